import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ThreadId } from '@bobbin/core';
import type { Agent } from './agent.ts';
import { pulledOut } from './handover.ts';
import { isAllowed, pathWish } from './permissions.ts';
import { findSession } from './sessions.ts';
import { isText, readBytes } from './tools/source-file.ts';

const MENTION = /(?<=^|\s)@(thread:)?([^\s,;:!?'"()]+)/g;
const LONGEST_FILE = 60_000;

/**
 * A message with what it mentions: `@path` brings the file along, `@thread:ID` what that session holds for the message.
 * What is no file stays the word that it is.
 */
export async function withMentions(
  agent: Agent,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const blocks: string[] = [];
  for (const [, thread, name = ''] of text.matchAll(MENTION)) {
    const block =
      thread === undefined
        ? await fileBlock(agent, name)
        : await threadBlock(agent, name, text, signal);
    if (block !== undefined && !blocks.includes(block)) blocks.push(block);
  }
  return [text, ...blocks].join('\n\n');
}

async function fileBlock(agent: Agent, mentioned: string): Promise<string | undefined> {
  const { folders, permissions } = agent.options;
  const name = mentioned.replace(/\.+$/, '');
  const path = resolve(folders.project, name);
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) return undefined;
  // Who types the path of a file outside the project has allowed it; who plays a script has not.
  if (
    !agent.options.interactive &&
    !isAllowed(pathWish('read', path, folders.project), permissions)
  )
    return undefined;
  const bytes = await readBytes(path);
  if (typeof bytes === 'string' || !isText(bytes)) return undefined;
  const content = bytes.toString('utf8');
  const cut =
    content.length > LONGEST_FILE
      ? `${content.slice(0, LONGEST_FILE)}\n(cut off; read ${name} for the rest)`
      : content;
  return `<file path="${name}">\n${cut.trimEnd()}\n</file>`;
}

async function threadBlock(
  agent: Agent,
  id: string,
  text: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { session, options } = agent;
  const found = findSession(options.folders, id);
  if (found === undefined || found === session.id) return undefined;
  const held = await pulledOut(
    session,
    { ...session.key, thread: found as ThreadId },
    text,
    signal,
  );
  return held === '' ? undefined : `<thread id="${found}">\n${held}\n</thread>`;
}
