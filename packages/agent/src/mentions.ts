import { relative, resolve } from 'node:path';
import type { ImagePart, ThreadId } from '@bobbin/core';
import type { Agent } from './agent.ts';
import { pulledOut } from './handover.ts';
import { attachedImage, imageType } from './images.ts';
import { isAllowed, leadsOut, pathWish } from './permissions.ts';
import type { Said } from './said.ts';
import { findSession } from './sessions.ts';
import { readBytes } from './tools/source-file.ts';
import { isText } from './tools/text-bytes.ts';

const MENTION = /(?<=^|\s)@(thread:)?([^\s,;:!?'"()]+)/g;
const LONGEST_FILE = 60_000;

/**
 * What was typed with what it mentions: `@path` brings the file or the image along, `@thread:ID` what that session
 * holds for the message. What is no file stays the word that it is; mentions in what is brought along are only text.
 */
export async function withMentions(
  agent: Agent,
  typed: string,
  signal: AbortSignal,
): Promise<Said> {
  const attached = new Set<string>();
  const images: ImagePart[] = [];
  for (const [, thread, name = ''] of typed.matchAll(MENTION)) {
    const brought =
      thread === undefined
        ? await broughtFile(agent, name.replace(/\.+$/, ''))
        : await threadBlock(agent, name, typed, signal);
    if (brought === undefined || attached.has(brought.text)) continue;
    attached.add(brought.text);
    if (brought.image !== undefined) images.push(brought.image);
  }
  return { typed, attached: [...attached], images };
}

interface Brought {
  readonly text: string;
  readonly image?: ImagePart;
}

async function broughtFile(agent: Agent, name: string): Promise<Brought | undefined> {
  const { folders, vault, clock } = agent.options;
  const path = resolve(folders.project, name);
  if (!mayBring(agent, path)) return undefined;
  const mediaType = imageType(path);
  if (mediaType === undefined) return fileBlock(name, path);
  const place = { key: agent.session.key, artifacts: vault.artifacts, now: clock.now() };
  const image = await attachedImage(path, mediaType, place);
  return image === undefined ? undefined : { text: image.note, image: image.image };
}

/** Who types a path outside the project has allowed it, but not where a link leads; who plays a script has not. */
function mayBring(
  { options: { folders, permissions, interactive } }: Agent,
  path: string,
): boolean {
  if (isAllowed(pathWish('read', path, folders.project), permissions)) return true;
  return interactive && leadsOut(relative(folders.project, path));
}

async function fileBlock(name: string, path: string): Promise<Brought | undefined> {
  const bytes = await readBytes(path);
  if (typeof bytes === 'string' || !isText(bytes)) return undefined;
  const content = bytes.toString('utf8');
  const cut =
    content.length > LONGEST_FILE
      ? `${content.slice(0, LONGEST_FILE)}\n(cut off; read ${name} for the rest)`
      : content;
  return { text: `<file path="${name}">\n${cut.trimEnd()}\n</file>` };
}

async function threadBlock(
  { session, options }: Agent,
  id: string,
  typed: string,
  signal: AbortSignal,
): Promise<Brought | undefined> {
  const found = findSession(options.folders, id);
  if (found === undefined || found === session.id) return undefined;
  const held = await pulledOut(
    session,
    { ...session.key, thread: found as ThreadId },
    typed,
    signal,
  );
  return held === '' ? undefined : { text: `<thread id="${found}">\n${held}\n</thread>` };
}
