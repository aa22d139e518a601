import { access, constants } from 'node:fs/promises';
import { runAgentCommand } from './agent-command.ts';
import { parseOptions, type Command, type OptionTable } from './command.ts';
import { UsageError } from './failure.ts';

const OPTIONS = {
  model: {
    type: 'string',
    value: 'PROVIDER/ID',
    help: 'The model to go on with; see bobbin agent --help.',
  },
  yes: { type: 'boolean', help: 'Allows all commands and writes without asking.' },
} as const satisfies OptionTable;

/** What the agent is told to read where the file is on stdin. */
const STDIN = '/dev/stdin';

export const importCommand: Command = {
  name: 'import',
  summary: 'takes over a session of pi, Claude Code, Codex or OpenCode',
  operands: '[FILE]',
  about:
    'Makes a session of the coding agent, in the current folder, from a session file of pi, Claude Code, Codex or OpenCode, and goes on from there where there is a terminal. All of its messages come along. Without a FILE, or with -, it reads stdin.',
  options: OPTIONS,
  examples: ['bobbin import session.jsonl', 'bobbin import session.jsonl --model ollama/qwen3'],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [file = '-', ...more] = operands;
    if (more.length > 0 || (operands.length === 0 && process.stdin.isTTY))
      throw new UsageError('give one FILE, or a session file on stdin');
    if (file !== '-') await access(file, constants.R_OK);
    return runAgentCommand([
      'import',
      file === '-' ? STDIN : file,
      ...(values.model === undefined ? [] : ['--model', values.model]),
      ...(values.yes === true ? ['--yes'] : []),
    ]);
  },
};
