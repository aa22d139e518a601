import type { Writable } from 'node:stream';
import { planArtifacts } from '@bobbin/core/internal';
import { accountOf, causeTexts } from './token-account.ts';
import { newArtifactsIn, readingCommand } from '../commands/artifact.ts';
import type { CompactValues } from '../commands/compact.ts';
import { readConversation, transcriptConversation } from '../input/conversation.ts';
import { EXIT, writeError, UsageError } from '../failure.ts';
import { counted, duration, grouped, signed } from '../output/figures.ts';
import { OutFile } from '../output/out-file.ts';
import { Progress } from '../output/progress.ts';
import {
  isFileOf,
  readLines,
  readText,
  sourcesOf,
  write,
  type TextSource,
} from '../input/text-stream.ts';
import { Transcript } from '../input/transcript.ts';
import {
  figuresOf,
  compacted,
  settingsFor,
  requestFrom,
  type CompactSettings,
  type CompactRequest,
  type Compacted,
} from './compacted.ts';

/** Compacts what the operands name, as the options say, and returns the exit code. */
export async function compact(operands: readonly string[], values: CompactValues): Promise<number> {
  const sources = sourcesOf(operands);
  checkOut(values, sources);
  const request = requestFrom(values);
  if (values.instructions !== undefined)
    writeError(
      '--instructions has no effect: the built-in extract, which takes none, summarises here',
    );
  const folder = values.artifacts;
  const keeping: CompactRequest = {
    ...request,
    ...(folder === undefined ? {} : { artifacts: await newArtifactsIn(folder) }),
    ...(values.summary === undefined ? {} : { summary: await summaryIn(values.summary) }),
  };
  const compactAll = values.jsonl === true ? compactLines : compactTranscripts;
  return into(values.out, (output) =>
    compactAll(sources, keeping, {
      output,
      withPlan: values.json === true,
      ...(folder === undefined ? {} : { folder }),
    }),
  );
}

/** @throws UsageError if the file cannot be a summary. */
async function summaryIn(path: string): Promise<string> {
  const [source] = sourcesOf([path]);
  const text = source === undefined ? '' : await readText(source);
  if (text.trim() === '') throw new UsageError(`--summary ${path} is empty`);
  return text;
}

/** @throws UsageError if the output would not be whole, or would overwrite its input. */
function checkOut({ out, jsonl }: CompactValues, sources: readonly TextSource[]): void {
  if (out === undefined || out === '-') return;
  if (sources.length > 1 && jsonl !== true)
    throw new UsageError('--out takes what one FILE becomes: compact them one by one');
  if (sources.some((source) => isFileOf(source, out)))
    throw new UsageError(`--out ${out} is the file that is read, the only whole copy`);
}

interface Sink {
  readonly output: Writable;
  /** Writes the prompt, the plan and the figures instead of the transcript. */
  readonly withPlan: boolean;
  /** Where artifacts are kept. */
  readonly folder?: string;
}

/** Gives the output to a task; a file only gets it when the whole task was done. */
async function into(
  path: string | undefined,
  task: (output: Writable) => Promise<number>,
): Promise<number> {
  if (path === undefined || path === '-') return task(process.stdout);
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
  request: CompactRequest,
  { output, withPlan, folder }: Sink,
): Promise<number> {
  let fits = true;
  for (const source of sources) {
    const progress = new Progress();
    await progress.announce(`reading ${source.name}`);
    const conversation = readConversation(await readText(source), source.name, request.format);
    const settings = await settingsFor(request, conversation);
    const result = await compacted(settings, conversation, progress);
    progress.clear();
    const { prompt, plan, messages } = result.fitted;
    const { cachePoints, tokens } = prompt;
    const text = withPlan
      ? JSON.stringify(
          {
            prompt: { messages, tokens, cachePoints },
            plan,
            figures: figuresOf(settings, result),
          },
          null,
          2,
        )
      : conversation.text(messages);
    await write(output, text.endsWith('\n') || output !== process.stdout ? text : `${text}\n`);
    await write(process.stderr, report(source.name, settings, result, folder));
    fits &&= result.fitted.fits;
  }
  return fits ? EXIT.done : EXIT.overBudget;
}

async function compactLines(
  sources: readonly TextSource[],
  request: CompactRequest,
  { output, folder }: Sink,
): Promise<number> {
  const started = performance.now();
  const progress = new Progress();
  let fits = true;
  let count = 0;
  for (const source of sources) {
    for await (const { text, number } of readLines(source)) {
      const transcript = new Transcript(text, source.name, number);
      const { id = null, budget, summary } = transcript.fields;
      const own: CompactRequest = {
        ...request,
        ...(budget === undefined ? {} : { budgetTokens: budgetOf(transcript, budget) }),
        ...(summary === undefined ? {} : { summary: summaryOf(transcript, summary) }),
      };
      const conversation = transcriptConversation(transcript, request.format, (result) =>
        transcript.list(result),
      );
      const settings = await settingsFor(own, conversation);
      const result = await compacted(settings, conversation);
      const messages = conversation.text(result.fitted.messages);
      const stats = JSON.stringify(figuresOf(settings, result));
      await write(output, `{"id":${JSON.stringify(id)},"messages":${messages},"stats":${stats}}\n`);
      fits &&= result.fitted.fits;
      count += 1;
      progress.show(`${counted(count, 'conversation')} compacted`);
    }
  }
  progress.clear();
  await write(
    process.stderr,
    `${counted(count, 'conversation')} compacted in ${duration(performance.now() - started)}\n` +
      (folder === undefined
        ? ''
        : `  artifacts are in ${folder}: ${readingCommand(folder, 'ID')}\n`),
  );
  return fits ? EXIT.done : EXIT.overBudget;
}

function budgetOf(transcript: Transcript, budget: unknown): number {
  if (typeof budget === 'number' && Number.isSafeInteger(budget) && budget > 0) return budget;
  return transcript.failAt('budget', 'must be a whole number above 0');
}

function summaryOf(transcript: Transcript, summary: unknown): string {
  if (typeof summary === 'string' && summary.trim() !== '') return summary;
  return transcript.failAt('summary', 'must be the text of a summary');
}

/** `session.json: 150,312 → 59,870 tokens …`, in one line, and one line for each further thing to know. */
function report(
  name: string,
  settings: CompactSettings,
  result: Compacted,
  folder: string | undefined,
): string {
  const figures = figuresOf(settings, result);
  const account = accountOf(result.messages, result.fitted, settings.counter);
  const rungs = account.rungs.map(
    ({ strategy, records, freed }) => `${strategy} ${records}× ${signed(-freed)}`,
  );
  const causes = causeTexts(account).map(([tokens, text]) => `${text} ${signed(tokens)}`);
  const model = figures.model === undefined ? '' : ` for ${figures.model}`;
  const sizes = figures.compacted
    ? `${grouped(figures.tokensBefore)} → ${grouped(figures.tokensAfter)} tokens`
    : `${grouped(figures.tokensBefore)} tokens, nothing to do`;
  const parts = [
    `${sizes} (limit ${grouped(figures.limitTokens)}, by ${figures.counter}${model})`,
    `${figures.messagesBefore} → ${figures.messagesAfter} messages`,
    ...(figures.compacted ? rungs : []),
    ...causes,
    duration(result.millis),
  ];
  const warnings = result.fitted.events.flatMap((event) =>
    event.kind === 'warning' ? [event.message] : [],
  );
  if (!figures.fits) warnings.push('what may not be compacted exceeds the limit');
  return [
    `${name}: ${parts.join(' · ')}`,
    ...artifactLines(name, result, folder),
    ...warnings.map((warning) => `bobbin: ${name}: ${warning}`),
    '',
  ].join('\n');
}

/** The place of the content that excerpts point to. */
function artifactLines(
  name: string,
  { fitted }: Compacted,
  folder: string | undefined,
): readonly string[] {
  const [first, ...more] = planArtifacts(fitted.plan);
  if (first === undefined) return [];
  const count = more.length + 1;
  if (folder !== undefined)
    return [`  ${counted(count, 'artifact')} in ${folder}: ${readingCommand(folder, first)}`];
  const excerpts = count === 1 ? '1 message is an excerpt' : `${count} messages are excerpts`;
  return [`  ${excerpts}, whole only in ${name}; --artifacts FOLDER keeps the whole`];
}
