import type { Writable } from 'node:stream';
import { parseOptions, type Command, type OptionTable } from './command.ts';
import { readConversation, transcriptConversation } from './conversation.ts';
import { EXIT, UsageError } from './failure.ts';
import { counted, duration, grouped, short } from './figures.ts';
import { freedByRung } from './freed.ts';
import { OutFile } from './out-file.ts';
import {
  fileSource,
  readLines,
  readText,
  standardInput,
  write,
  type TextSource,
} from './text-stream.ts';
import { Transcript } from './transcript.ts';
import {
  bounded,
  figuresOf,
  wind,
  windingFrom,
  WINDING_OPTIONS,
  type Winding,
  type Wound,
} from './winding.ts';

const OPTIONS = {
  ...WINDING_OPTIONS,
  out: { type: 'string', value: 'FILE', help: 'Where the output goes. Default: stdout.' },
  json: { type: 'boolean', help: 'Prints the prompt, the plan and the figures instead.' },
  jsonl: {
    type: 'boolean',
    help: 'Reads conversations, one JSON object a line: {"id", "messages", "budget"?}, and answers {"id", "messages", "stats"} for each, in order, as they come.',
  },
} as const satisfies OptionTable;

export const compactCommand: Command = {
  name: 'compact',
  summary: 'winds transcripts so that they fit',
  operands: '[FILE…]',
  about:
    'Reads transcripts from files or stdin and writes them, wound to fit, in the format they came in: a list of messages, or an object that holds one as "messages" (or "input"). What is kept is written with the very characters that were read. Session files of harnesses (pi, Claude Code, Codex, OpenCode) come out as a list of messages for their provider. A report goes to stderr.',
  options: OPTIONS,
  examples: [
    'bobbin compact session.json --budget 20000 --out small.json',
    'bobbin compact session.json --model claude-opus-5 --json',
    'bobbin compact --jsonl --budget 8000 < conversations.jsonl > wound.jsonl',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    if (values.json === true && values.jsonl === true)
      throw new UsageError('--json and --jsonl exclude each other');
    const sources = operands.map(fileSource);
    if (sources.length === 0 && process.stdin.isTTY)
      throw new UsageError('give a FILE, or a transcript on stdin');
    const winding = await windingFrom(values);
    const compactAll = values.jsonl === true ? compactLines : compactTranscripts;
    return into(values.out, (output) =>
      compactAll(sources.length === 0 ? [standardInput] : sources, winding, {
        output,
        withPlan: values.json === true,
      }),
    );
  },
};

interface Sink {
  readonly output: Writable;
  /** Writes the prompt, the plan and the figures instead of the transcript. */
  readonly withPlan: boolean;
}

/** Gives the output to a task; a file only gets it when the whole task was done. */
async function into(
  path: string | undefined,
  task: (output: Writable) => Promise<number>,
): Promise<number> {
  if (path === undefined) return task(process.stdout);
  const file = await OutFile.open(path);
  try {
    const code = await task(file.stream);
    await file.keep();
    return code;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

async function compactTranscripts(
  sources: readonly TextSource[],
  winding: Winding,
  { output, withPlan }: Sink,
): Promise<number> {
  let fits = true;
  for (const source of sources) {
    const conversation = readConversation(await readText(source), source.name, winding.format);
    const wound = await wind(winding, conversation);
    const { prompt, plan, messages } = wound.fitted;
    const { cachePoints, tokens } = prompt;
    const text = withPlan
      ? JSON.stringify(
          {
            prompt: { messages, tokens, cachePoints },
            plan,
            figures: figuresOf(winding, wound),
          },
          null,
          2,
        )
      : conversation.text(messages);
    await write(output, text.endsWith('\n') || output !== process.stdout ? text : `${text}\n`);
    await write(process.stderr, report(source.name, winding, wound));
    fits &&= wound.fitted.fits;
  }
  return fits ? EXIT.done : EXIT.overBudget;
}

async function compactLines(
  sources: readonly TextSource[],
  winding: Winding,
  { output }: Sink,
): Promise<number> {
  const started = performance.now();
  const progress = new Progress();
  let fits = true;
  let count = 0;
  for (const source of sources) {
    for await (const { text, number } of readLines(source)) {
      const transcript = new Transcript(text, source.name, number);
      const { id = null, budget } = transcript.fields;
      const own = budget === undefined ? winding : bounded(winding, budgetOf(transcript, budget));
      const conversation = transcriptConversation(transcript, own.format, (wound) =>
        transcript.list(wound),
      );
      const wound = await wind(own, conversation);
      const messages = conversation.text(wound.fitted.messages);
      const stats = JSON.stringify(figuresOf(own, wound));
      await write(output, `{"id":${JSON.stringify(id)},"messages":${messages},"stats":${stats}}\n`);
      fits &&= wound.fitted.fits;
      count += 1;
      progress.show(`${counted(count, 'conversation')} wound`);
    }
  }
  progress.clear();
  await write(
    process.stderr,
    `${counted(count, 'conversation')} wound in ${duration(performance.now() - started)}\n`,
  );
  return fits ? EXIT.done : EXIT.overBudget;
}

function budgetOf(transcript: Transcript, budget: unknown): number {
  if (typeof budget === 'number' && Number.isSafeInteger(budget) && budget > 0) return budget;
  return transcript.failAt('budget', 'must be a whole number above 0');
}

/** `session.json: 150,312 → 59,870 tokens of 64,000 …`, in one line. */
function report(name: string, winding: Winding, wound: Wound): string {
  const figures = figuresOf(winding, wound);
  const rungs = freedByRung(wound.fitted.events).map(
    ({ strategy, records, freed }) => `${strategy} ${records}× −${short(freed)}`,
  );
  const sizes = figures.compacted
    ? `${grouped(figures.tokensBefore)} → ${grouped(figures.tokensAfter)} tokens`
    : `${grouped(figures.tokensBefore)} tokens, nothing to do`;
  const parts = [
    `${sizes} (limit ${grouped(figures.limitTokens)}, by ${figures.counter})`,
    `${figures.messagesBefore} → ${figures.messagesAfter} messages`,
    ...rungs,
    duration(wound.millis),
  ];
  const over = figures.fits ? '' : `bobbin: ${name}: what may not be compacted exceeds the limit\n`;
  return `${name}: ${parts.join(' · ')}\n${over}`;
}

/** A line on the terminal that is written over; nothing where nobody looks. */
class Progress {
  #shownAt = performance.now();

  show(text: string): void {
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.#shownAt < 100) return;
    this.#shownAt = now;
    process.stderr.write(`\r${text}\u001B[K`);
  }

  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  }
}
