import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgentCommand } from '../commands/agent.ts';
import { readConversation } from './conversation.ts';
import { InputError, UsageError } from '../failure.ts';
import { sessionFormat } from './formats.ts';
import type { ImportValues } from '../commands/import.ts';
import { readText, sourcesOf } from './text-stream.ts';

/** Has the agent go on with the session file that the operands name, and gives the exit code. */
export async function takeOver(operands: readonly string[], values: ImportValues): Promise<number> {
  const [source, ...more] = sourcesOf(operands);
  if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
  const text = await readText(source);
  if (sessionFormat('auto', text) === undefined)
    throw new InputError(source.name, undefined, 'is no session file that is known');
  // Damage is reported with its place, before a session is begun.
  readConversation(text, source.name, 'auto');
  const options = [
    ...(values.model === undefined ? [] : ['--model', values.model]),
    ...(values.yes === true ? ['--yes'] : []),
  ];
  const [file = '-'] = operands;
  const importFrom = (path: string): Promise<number> =>
    runAgentCommand(['import', path, ...options]);
  return file === '-' ? withFileOf(text, importFrom) : importFrom(file);
}

/** A task on a file that holds a text as long as it lasts. */
async function withFileOf(text: string, task: (path: string) => Promise<number>): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bobbin-'));
  try {
    const path = join(folder, 'stdin');
    await writeFile(path, text);
    return await task(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
