import type { OptionTable } from '../command.ts';

// The names that a user may give, apart from the tables in which they are looked up: help is printed without those.
const FORMAT_NAMES = [
  'auto',
  'openai',
  'openai-responses',
  'anthropic',
  'ai-sdk',
  'gemini',
  'bedrock',
  'bobbin',
  'pi',
  'claude-code',
  'codex',
  'opencode',
];
const PRESET_NAMES = [
  'ladder',
  'step',
  'pi',
  'codex',
  'claude-code',
  'opencode',
  'sliding-window',
  'turn-window',
  'token-window',
  'recursive-summary',
  'timeline',
  'plan-engine',
];
const COUNTER_NAMES = ['chars4', 'estimate', 'o200k', 'cl100k'];

/** The options that say how a conversation is compacted, the same for every command that compacts. */
export const COMPACT_OPTIONS = {
  format: {
    type: 'string',
    value: 'NAME',
    help: `The format: ${FORMAT_NAMES.join(', ')}. Default: auto, which looks at the text.`,
  },
  preset: {
    type: 'string',
    value: 'NAME',
    help: `The policy: ${PRESET_NAMES.join(', ')}. Default: ladder.`,
  },
  model: {
    type: 'string',
    value: 'ID',
    help: 'The model that will read it: its window and, where public, its tokenizer are known. Of an unknown one, such as a local model, stderr says what is assumed. Default: the one that the text names.',
  },
  window: {
    type: 'string',
    value: 'N',
    help: "The window in tokens. Default: the model's, or 128000.",
  },
  budget: {
    type: 'string',
    value: 'N',
    help: 'Bounds the tokens of all messages in the output instead, with no reserve, for one reader: older turns become a summary, where --window first shortens tool results, as for an agent that goes on.',
  },
  counter: {
    type: 'string',
    value: 'NAME',
    help: `How tokens are counted: ${COUNTER_NAMES.join(', ')}. Default: the model's own, or an estimate that errs on the safe side.`,
  },
  instructions: {
    type: 'string',
    value: 'TEXT',
    help: 'What a summary written by a model should pay attention to. No effect here: the built-in extract summarises, and takes none.',
  },
} as const satisfies OptionTable;
