import { parseOptions, type Command, type OptionTable } from '../command.ts';
import { UsageError } from '../failure.ts';

const OPTIONS = {
  save: {
    type: 'string',
    value: 'FILE',
    help: 'Writes the sample session there, to try the other commands on, and draws nothing.',
  },
} as const satisfies OptionTable;

export const demoCommand: Command = {
  name: 'demo',
  operands: '',
  about:
    "Compacts a recorded session of about 150,000 tokens, a coding agent at work on Bobbin's own repository, with the default policy and without a model, and draws what happened.",
  options: OPTIONS,
  examples: ['bobbin demo', 'bobbin demo --save session.json'],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    if (operands.length > 0) throw new UsageError('demo takes no FILE');
    const { demonstrate } = await import('../compact/demonstration.ts');
    return demonstrate(values.save);
  },
};
