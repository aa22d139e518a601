import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgentCommand } from './agent-command.ts';
import { parseOptions, type Command, type OptionTable } from './command.ts';
import { readConversation } from './conversation.ts';
import { InputError, UsageError } from './failure.ts';
import { sessionFormat } from './formats.ts';
import { readText, sourcesOf } from './text-stream.ts';

const OPTIONS = {
  model: {
    type: 'string',
    value: 'PROVIDER/ID',
    help: 'The model to go on with; see bobbin agent --help.',
  },
  yes: { type: 'boolean', help: 'Allows all commands and writes without asking.' },
} as const satisfies OptionTable;

export const importCommand: Command = {
  name: 'import',
  summary: 'takes over a session of pi, Claude Code, Codex or OpenCode',
  operands: '[FILE]',
  about:
    'Makes a session of the coding agent, in the current folder, from a session file of Bobbin, pi, Claude Code, Codex or OpenCode, and goes on from there where there is a terminal. All that was said and done comes along, also what its harness had compacted; the parts of one answer become one message, and thoughts, which only their own model may read, stay behind. Without a FILE, or with -, it reads stdin.',
  options: OPTIONS,
  examples: ['bobbin import session.jsonl', 'bobbin import session.jsonl --model ollama/qwen3'],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [source, ...more] = sourcesOf(operands);
    if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
    const text = await readText(source);
    if (sessionFormat('auto', text) === undefined)
      throw new InputError(source.name, undefined, 'is no session file that is known');
    // What is damaged is told with its place, before a session is begun.
    readConversation(text, source.name, 'auto');
    const options = [
      ...(values.model === undefined ? [] : ['--model', values.model]),
      ...(values.yes === true ? ['--yes'] : []),
    ];
    const [file = '-'] = operands;
    const importFrom = (path: string): Promise<number> =>
      runAgentCommand(['import', path, ...options]);
    return file === '-' ? withFileOf(text, importFrom) : importFrom(file);
  },
};

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
