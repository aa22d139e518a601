import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';

const OPTIONS = {
  model: {
    type: 'string',
    value: 'PROVIDER/ID',
    help: 'The model to go on with; see bobbin agent --help.',
  },
  yes: { type: 'boolean', help: 'Allows all commands and writes without asking.' },
} as const satisfies OptionTable;

export type ImportValues = OptionValues<typeof OPTIONS>;

export const importCommand: Command = {
  name: 'import',
  operands: '[FILE]',
  about:
    'Makes a session of the coding agent, in the current folder, from a session file of Bobbin, pi, Claude Code, Codex or OpenCode, and goes on from there where there is a terminal. All that was said and done comes along, also what its harness had compacted; the parts of one answer become one message, and thoughts, which only their own model may read, stay behind. Without a FILE, or with -, it reads stdin.',
  options: OPTIONS,
  examples: ['bobbin import session.jsonl', 'bobbin import session.jsonl --model ollama/qwen3'],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const { takeOver } = await import('../input/takeover.ts');
    return takeOver(operands, values);
  },
};
