import { parseOptions, type Command, type OptionValues } from '../command.ts';
import { COMPACT_OPTIONS } from '../compact/compact-options.ts';

const { instructions: _, budget: __, preset: ___, ...SHARED_OPTIONS } = COMPACT_OPTIONS;

const OPTIONS = {
  ...SHARED_OPTIONS,
  preset: {
    type: 'strings',
    value: 'NAME',
    help: 'A policy to replay; may be given more than once. Default: ladder with each thrift, and claude-code.',
  },
  thrift: {
    type: 'strings',
    value: 'NAME',
    help: 'How much ladder trims: gentle, careful, balanced or frugal; may be given more than once.',
  },
  read: {
    type: 'string',
    value: 'PRICE',
    help: "What a token costs that is read from the cache, as a multiple of fresh input. Default: the model's, or 0.1.",
  },
  write: {
    type: 'string',
    value: 'PRICE',
    help: "What a token costs that is written to the cache. Default: the model's, or 1.25.",
  },
} as const;

export type ReplayValues = OptionValues<typeof OPTIONS>;

export const replayCommand: Command = {
  name: 'replay',
  operands: '[FILE]',
  about:
    'Replays a session request by request and prints what it would have cost: the full history, plain methods and policies side by side, with what each wrote to the cache again. Changes nothing and calls no model. Without a FILE, or with -, it reads stdin.',
  options: OPTIONS,
  examples: [
    'bobbin replay session.jsonl',
    'bobbin replay session.jsonl --thrift careful --thrift frugal --window 64000',
    'bobbin replay session.jsonl --preset pi --preset codex --read 0.025',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const { replay } = await import('../replay/replay.ts');
    return replay(operands, values);
  },
};
