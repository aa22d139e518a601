import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { UsageError } from '../failure.ts';
import { COMPACT_OPTIONS } from '../compact/compact-options.ts';

const OPTIONS = {
  ...COMPACT_OPTIONS,
  thrift: {
    type: 'string',
    value: 'NAME',
    help: 'How much ladder shortens older tool results: gentle, careful, balanced or frugal. Default: careful.',
  },
  artifacts: {
    type: 'string',
    value: 'FOLDER',
    help: 'Keeps the whole of what is shortened to an excerpt there: bobbin artifact FOLDER ID prints it. Without it, "[Externalized Content - artifact:ID]" replaces content that only the transcript contains.',
  },
  summary: {
    type: 'string',
    value: 'FILE',
    help: 'A summary of the conversation that a model wrote, as text; - reads it from stdin. It is verified against the messages and leads the summary in the output; what it lacks is added from the messages. With --jsonl, each line has its own: {"summary"}.',
  },
  out: {
    type: 'string',
    value: 'FILE',
    help: 'Where the output goes, when all of it is done; never a FILE that is read. It takes what one FILE becomes, with --jsonl what all do. Default: stdout, as - is.',
  },
  json: { type: 'boolean', help: 'Prints the prompt, the plan and the figures instead.' },
  jsonl: {
    type: 'boolean',
    help: 'Reads conversations, one JSON object a line: {"id", "messages", "budget"?, "summary"?}, and answers {"id", "messages", "stats"} for each, in order, as they come.',
  },
} as const satisfies OptionTable;

export type CompactValues = OptionValues<typeof OPTIONS>;

export const compactCommand: Command = {
  name: 'compact',
  operands: '[FILE…]',
  about:
    'Reads transcripts from files or stdin and writes them, compacted to fit, in the format they came in: a list of messages, or an object that holds one as "messages" (or "input"). What is kept is written with the very characters that were read. Session files (of Bobbin, pi, Claude Code, Codex, OpenCode) come out as a list of messages for their provider. Several FILEs come out one after the other, each as a JSON text of its own. A report goes to stderr. Without a FILE, or with -, it reads stdin.',
  options: OPTIONS,
  examples: [
    'bobbin compact session.json --budget 20000 --out small.json',
    'bobbin compact session.json --budget 20000 --artifacts moved-out > small.json',
    'bobbin compact - --model claude-opus-5 --json < session.json',
    'bobbin compact session.json --budget 20000 --summary summary.md > small.json',
    'bobbin compact --jsonl --budget 8000 < conversations.jsonl > compacted.jsonl',
  ],
  exits: [['3', 'Written, but over the budget: what may not be compacted exceeds it.']],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    if (values.json === true && values.jsonl === true)
      throw new UsageError('--json and --jsonl exclude each other');
    if (values.summary !== undefined && values.jsonl === true)
      throw new UsageError(
        '--summary is for one conversation; with --jsonl, each line has its own "summary"',
      );
    if (values.summary !== undefined && operands.length > 1)
      throw new UsageError('--summary is for one conversation: compact the files one by one');
    if (values.summary === '-' && (operands[0] ?? '-') === '-')
      throw new UsageError(
        '--summary - and the transcript cannot both come from stdin: give one of them as a FILE',
      );
    const { compact } = await import('../compact/compact-files.ts');
    return compact(operands, values);
  },
};
