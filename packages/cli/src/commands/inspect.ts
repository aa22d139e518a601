import { parseOptions, type Command, type OptionValues } from '../command.ts';
import { COMPACT_OPTIONS } from '../compact/compact-options.ts';

const { instructions: _, ...OPTIONS } = COMPACT_OPTIONS;

export type InspectValues = OptionValues<typeof OPTIONS>;

export const inspectCommand: Command = {
  name: 'inspect',
  operands: '[FILE]',
  about:
    "Shows a transcript's turns, the tokens of each message, which result answers which call, and what a policy would do with it and why. Changes nothing. Without a FILE, or with -, it reads stdin.",
  options: OPTIONS,
  examples: [
    'bobbin inspect session.json',
    'bobbin inspect session.json --preset pi --model claude-opus-5',
    'bobbin inspect --budget 20000 --counter o200k < session.json | less',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const { inspect } = await import('../inspect/inspection.ts');
    return inspect(operands, values);
  },
};
