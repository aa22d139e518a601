import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOfStream } from 'node:stream/consumers';
import { DecodeError, portable, recogniseSession } from '@bobbin/codecs';
import type { Message, ThreadId } from '@bobbin/core';
import { Thread } from '@bobbin/core/internal';
import { ExpectedError } from '../expected-error.ts';
import type { Folders } from '../folders.ts';
import { newSessionId, projectName } from './session-id.ts';
import type { Vault } from './vault.ts';

export interface Imported {
  readonly session: string;
  readonly format: string;
  readonly messages: number;
  /** System messages of the program that wrote the file. They were not taken over: the agent has its own. */
  readonly leftOut: number;
}

/**
 * Makes a session of this folder from a session file of Bobbin, pi, Claude Code, Codex or OpenCode, or from stdin (-).
 * All that was said and done comes along, also what its harness had compacted: the engine compacts it again, and recall
 * finds it.
 */
export async function importSession(
  file: string,
  folders: Folders,
  { store }: Vault,
  now: number,
): Promise<Imported> {
  const text = await (
    file === '-' ? textOfStream(process.stdin) : readFile(resolve(folders.project, file), 'utf8')
  ).catch((error: unknown) => {
    throw new ExpectedError((error as Error).message);
  });
  const format = recogniseSession(text);
  if (format === undefined)
    throw new ExpectedError(
      `${file} is no session file of Bobbin, pi, Claude Code, Codex or OpenCode`,
    );
  try {
    const decoded = portable(format.decode(text).messages);
    const messages = decoded.filter(({ role }) => role !== 'system').map(asNew);
    const session = newSessionId(now);
    const thread = new Thread(session as ThreadId);
    const nodes = messages.map((message) => thread.append(message));
    if (nodes.length === 0) throw new ExpectedError(`${file} holds no messages`);
    await store.append({ tenant: projectName(folders.project), thread: thread.id }, nodes);
    const leftOut = decoded.length - nodes.length;
    return { session, format: format.name, messages: nodes.length, leftOut };
  } catch (error) {
    throw error instanceof DecodeError ? new ExpectedError(`${file}: ${error.message}`) : error;
  }
}

/**
 * What was paid elsewhere, for prompts of another size, says nothing of this session's cost and context. Nor is the
 * model another program's file names one to go on with: a name can mean a module, which would run.
 */
function asNew(message: Message): Message {
  const { usage: _, model: __, ...meta } = message.meta ?? {};
  return { ...message, meta };
}
