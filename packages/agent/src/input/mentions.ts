import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ImagePart, ThreadId } from '@bobbin/core';
import { headOf } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import { pulledOut } from '../session/handover.ts';
import { attachedImage, imageType, imageTypeOf } from './images.ts';
import { MENTIONED } from './mention-word.ts';
import { isAllowed, leadsOut, pathRequest } from '../loop/permissions.ts';
import type { Said } from '../loop/said.ts';
import { findSession } from '../session/sessions.ts';
import { readBytes } from '../tools/source-file.ts';
import { isText } from '../tools/text-bytes.ts';

const MENTION = new RegExp(String.raw`(?<=^|\s)@(thread:)?(${MENTIONED}+)`, 'g');
const LONGEST_FILE = 60_000;

/**
 * What was typed with what it mentions: `@path` brings the file or the image along, `@thread:ID` what that session
 * holds for the message. A mention of nothing stays a plain word, and a notice says so; mentions inside a file or
 * session are only text.
 */
export async function withMentions(
  agent: Agent,
  typed: string,
  signal: AbortSignal,
): Promise<Said> {
  const attached = new Set<string>();
  const images: ImagePart[] = [];
  for (const [, thread, word = ''] of typed.matchAll(MENTION)) {
    const name = word.replace(/\.+$/, '');
    const brought =
      thread === undefined
        ? await broughtFile(agent, name)
        : await threadBlock(agent, name, typed, signal);
    if (typeof brought === 'string') {
      const text = `@${thread ?? ''}${name}: ${brought}, sent as text`;
      agent.emit({ type: 'notice', text });
      continue;
    }
    if (attached.has(brought.text)) continue;
    attached.add(brought.text);
    if (brought.image !== undefined) images.push(brought.image);
  }
  return { typed, attached: [...attached], images };
}

interface Brought {
  readonly text: string;
  readonly image?: ImagePart;
}

/** What the mention adds, or in words why nothing. */
async function broughtFile(agent: Agent, name: string): Promise<Brought | string> {
  const { folders, vault, clock } = agent.options;
  const path = resolve(folders.project, name);
  if (!mayBring(agent, path)) return 'leads out of the project';
  const bytes = await readBytes(path);
  if (typeof bytes === 'string') return existsSync(path) ? bytes : 'no such file';
  if (imageType(path) === undefined) return fileBlock(name, bytes);
  const mediaType = imageTypeOf(bytes);
  if (mediaType === undefined) return 'no image';
  const place = { key: agent.session.key, artifacts: vault.artifacts, now: clock.now() };
  const image = await attachedImage(path, bytes, mediaType, place);
  return { text: image.note, image: image.image };
}

/**
 * A person who types a path outside the project has allowed it, but not the target of a link. A script has no such
 * permission.
 */
function mayBring(
  { options: { folders, permissions, interactive } }: Agent,
  path: string,
): boolean {
  if (isAllowed(pathRequest('read', path, folders.project), permissions)) return true;
  return interactive && leadsOut(relative(folders.project, path));
}

function fileBlock(name: string, bytes: Buffer): Brought | string {
  if (!isText(bytes)) return 'no text file';
  const content = bytes.toString('utf8');
  const cut =
    content.length > LONGEST_FILE
      ? `${headOf(content, LONGEST_FILE)}\n(cut off; read ${name} for the rest)`
      : content;
  return { text: `<file path="${name}">\n${cut.trimEnd()}\n</file>` };
}

async function threadBlock(
  { session, options }: Agent,
  id: string,
  typed: string,
  signal: AbortSignal,
): Promise<Brought | string> {
  const found = findSession(options.folders, id);
  if (found === undefined) return 'no such session';
  if (found === session.id) return 'this very session';
  const held = await pulledOut(
    session,
    { ...session.key, thread: found as ThreadId },
    typed,
    signal,
  );
  return held === ''
    ? 'holds nothing for this'
    : { text: `<thread id="${found}">\n${held}\n</thread>` };
}
