// Part of `npm run e2e:model`, which serves the model: how much of what agents later needed do a model's own summary,
// the verified one and the extract name, in the same space?
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  formatMessage,
  textOf,
  type Message,
  type Summarizer,
  type SummaryRequest,
  type ThreadId,
} from '@bobbin/core';
import {
  callsOf,
  cleanExtract,
  estimator,
  fitSummary,
  namesIn,
  resultsOf,
  resultText,
  Thread,
  trustedSummarizer,
  type Node,
  type SummaryReport,
} from '@bobbin/core/internal';
import { modelSummarizer } from '@bobbin/models';
import { wrapLanguageModel, type LanguageModel } from 'ai';

const SPANS = 10;
const SPAN_CHARS = 2_400;
const LOOK_AHEAD = 40;
const SPACE_TOKENS = 400;
const OUTPUT_TOKENS = 120;
const counter = estimator();

interface Recording {
  readonly id: string;
  readonly messages: readonly {
    readonly role: Message['role'];
    readonly content?: string;
    readonly toolCalls?: readonly {
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
    }[];
    readonly toolCallId?: string;
  }[];
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run \`npm run e2e:model\``);
  return value;
}

function threadOf({ messages }: Recording): Thread {
  const thread = new Thread('recorded' as ThreadId);
  for (const { role, content = '', toolCalls = [], toolCallId } of messages) {
    const text = content === '' ? [] : [{ kind: 'text' as const, text: content }];
    if (toolCallId !== undefined)
      thread.append({
        role: 'tool',
        parts: [{ kind: 'result', callId: toolCallId, content: text }],
      });
    else
      thread.append({
        role,
        parts: [
          ...text,
          ...toolCalls.map(({ id, name, args }) => ({
            kind: 'call' as const,
            callId: id,
            tool: name,
            args: JSON.stringify(args),
          })),
        ],
      });
  }
  return thread;
}

function saidIn({ message }: Node): string {
  return [
    textOf(message),
    ...callsOf(message).map(({ tool, args }) => `${tool} ${args}`),
    ...resultsOf(message).map(resultText),
  ].join('\n');
}

interface Span {
  readonly id: string;
  readonly request: SummaryRequest;
  readonly needed: ReadonlySet<string>;
}

/** The names that the agent used after a span from memory: it named them before any message had them again. */
function neededLater(span: readonly Node[], later: readonly Node[]): ReadonlySet<string> {
  const known = new Set(span.flatMap((node) => [...namesIn(saidIn(node))]));
  const seen = new Set<string>();
  const needed = new Set<string>();
  for (const node of later) {
    for (const name of namesIn(saidIn(node))) {
      if (seen.has(name)) continue;
      seen.add(name);
      if (known.has(name) && node.message.role === 'assistant') needed.add(name);
    }
  }
  return needed;
}

/** One span of each of some recordings, as long as fits the model's window, from the first user message on. */
function spansOf(folder: string): readonly Span[] {
  const recordings = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .flatMap((name) => {
      const lines = gunzipSync(readFileSync(join(folder, name)))
        .toString('utf8')
        .trim()
        .split('\n');
      return lines.map((line) => JSON.parse(line) as Recording);
    });
  const spans = recordings.flatMap((recording) => spanOf(recording) ?? []);
  const step = Math.floor(spans.length / SPANS);
  return spans.filter((_, i) => i % step === 0).slice(0, SPANS);
}

function spanOf(recording: Recording): Span | undefined {
  const path = threadOf(recording)
    .path()
    .filter(({ message }) => message.role !== 'system');
  let chars = 0;
  const end = path.findIndex((node) => (chars += formatMessage(node).length) > SPAN_CHARS);
  const nodes = path.slice(0, end);
  const needed = neededLater(nodes, path.slice(end, end + LOOK_AHEAD));
  const task = path[0] === undefined ? null : textOf(path[0].message);
  if (end < 4 || needed.size < 5) return undefined;
  const request = {
    nodes,
    previous: null,
    task,
    round: 1,
    overlap: [],
    maxTokens: SPACE_TOKENS,
    counter,
  };
  return { id: recording.id, request, needed };
}

function recallOf(needed: ReadonlySet<string>, text: string): number {
  return [...needed].filter((name) => text.includes(name)).length / needed.size;
}

/** A summarizer that remembers what it said last. */
function remembering(inner: Summarizer): Summarizer & { said: string } {
  const made = {
    id: inner.id,
    said: '',
    async summarize(request: SummaryRequest) {
      const summary = await inner.summarize(request);
      made.said = summary.prose ?? '';
      return summary;
    },
  };
  return made;
}

let cutOff = 0;

/**
 * A model this small seldom comes to an end. The summarizer would refuse an answer that was cut off; here it is taken
 * for whole all the same, because the question is what verification makes of a model's words.
 */
function unended(model: Parameters<typeof wrapLanguageModel>[0]['model']): LanguageModel {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async wrapGenerate({ doGenerate }) {
        const result = await doGenerate();
        if (result.finishReason.unified !== 'length') return result;
        cutOff += 1;
        return { ...result, finishReason: { ...result.finishReason, unified: 'stop' } };
      },
    },
  });
}

const provider = createOpenAICompatible({ name: 'local', baseURL: setting('BOBBIN_E2E_URL') });
const model = remembering(
  modelSummarizer({
    model: unended(provider('tinyllama-1b')),
    style: 'codex',
    answer: 'prose',
    windowTokens: Number(setting('BOBBIN_E2E_CONTEXT_TOKENS')),
    maxOutputTokens: OUTPUT_TOKENS,
    timeoutMs: 1_200_000,
    retries: 0,
  }),
);
const trusted = trustedSummarizer(model);
const spans = spansOf(setting('BOBBIN_E2E_TRANSCRIPTS'));

interface Row {
  readonly id: string;
  readonly model: number;
  readonly verified: number;
  readonly extract: number;
}

async function measured({ id, request, needed }: Span): Promise<Row> {
  const reports: SummaryReport[] = [];
  const started = performance.now();
  model.said = '';
  const extracted = cleanExtract(request);
  const summary = await trusted
    .summarize({ ...request, report: (report) => reports.push(report) })
    .catch(
      (error: unknown) => (
        console.log(`  ${String(error)}: the extract is used instead`),
        extracted
      ),
    );
  const row = {
    id,
    model: recallOf(needed, model.said),
    verified: recallOf(needed, fitSummary(summary, SPACE_TOKENS, counter) ?? ''),
    extract: recallOf(needed, fitSummary(extracted, SPACE_TOKENS, counter) ?? ''),
  };
  const seconds = (performance.now() - started) / 1_000;
  const figures = [
    row.model.toFixed(2).padStart(5),
    row.verified.toFixed(2).padStart(9),
    row.extract.toFixed(2).padStart(8),
  ];
  console.log(
    [...figures, String(needed.size).padStart(7), seconds.toFixed(0).padStart(8)].join(' '),
    ` ${happened(reports, summary.prose, model.said)}  ${id.slice(0, 60)}`,
  );
  return row;
}

console.log(
  `${spans.length} spans, ${SPACE_TOKENS} tokens of space each; recall of the names needed later\n`,
);
console.log('model  verified  extract  needed  seconds  what happened');
const rows: Row[] = [];
let answered = 0;
for (const span of spans) {
  rows.push(await measured(span));
  if (model.said !== '') answered += 1;
}
const mean = (key: 'model' | 'verified' | 'extract'): string =>
  (rows.reduce((sum, row) => sum + row[key], 0) / rows.length).toFixed(3);
console.log(
  `\nmean: the model's own ${mean('model')}, verified ${mean('verified')}, the extract ${mean('extract')}; ${answered} answers, ${cutOff} of them cut off`,
);
assert.deepEqual(
  rows.filter(({ verified, extract }) => verified < extract),
  [],
  'verification must not lose what the extract has, in any span',
);
assert.ok(answered > 0, 'there was no answer: nothing was verified');

function happened(reports: readonly SummaryReport[], kept: string | null, said: string): string {
  const notes = reports.flatMap((report) => {
    switch (report.kind) {
      case 'called':
        return [`${report.usage.inputTokens}+${report.usage.outputTokens} tokens`];
      case 'added':
        return [`${report.count} added`];
      case 'corrected':
        return [`${report.corrections.length} corrected`];
      case 'left-out':
        return [`${report.messages} left out`];
      case 'failed':
      case 'split-turn-failed':
      case 'retried':
      case 'cached':
      case 'superseded':
        return [report.kind];
    }
  });
  return [...notes, `${kept?.length ?? 0} of ${said.length} characters kept`].join(', ');
}
