// Recorded sessions of more than 60k tokens, replayed request by request in a window of 100k tokens: what does the provider bill, and
// what does the reader of each prompt still know? The gateway is asked over HTTP and asks a scripted provider over HTTP, which reports
// what it read from its cache; the other methods change the same requests in this process. `BOBBIN_SHARED` names the folder with
// `transcripts` and `tools` (default: ../shared); without it nothing is measured. `BOBBIN_BENCH_EVERY=5` takes every fifth session,
// `BOBBIN_BENCH_WITHOUT_EVERY=5` all others.
//
// Bill: tokens (characters / 4) of the longest beginning that is byte-identical to the request before are read from the cache at 0.1,
// all others are written at 1.25 times the price of fresh input. Re-reads: where the recorded agent's next message names an exact string that
// the history holds and the prompt no longer holds, one more request is charged, at most once for a message in 20 requests.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folderArtifacts, sqliteLedger, sqliteStore } from '@bobbin/stores';
import { startGateway } from '@bobbin/gateway';
import { cachingProvider } from './gateway/caching-provider.ts';
import type { Recorded, Turn } from './recorded.ts';
import { sharedStart, size, text, textOf, tokens, type ChatMessage } from './gateway/chat-text.ts';

interface CutPoint {
  readonly cut: number;
  readonly end: number;
  readonly kind: string;
}
interface Measures {
  load(file: string): readonly Recorded[];
  cutPoints(conversation: Recorded): readonly CutPoint[];
  entities(text: string): ReadonlySet<string>;
  unescaped(text: string): string;
  neededLater(
    messages: readonly Turn[],
    cut: number,
    end: number,
  ): { readonly needed: ReadonlySet<string> };
  recall(wanted: ReadonlySet<string>, prompt: string): number | null;
}
interface Probe {
  readonly facts: readonly unknown[];
}
interface ProbeCase {
  readonly id: string;
  readonly cut: number;
  readonly probes: readonly Probe[];
}
interface Grading {
  grader(context: string): (probe: Probe) => number;
}
type Prompt = (history: readonly ChatMessage[], session: string) => Promise<readonly ChatMessage[]>;
interface Method {
  readonly name: string;
  readonly start: () => Prompt;
}

const shared = resolve(process.env['BOBBIN_SHARED'] ?? '../shared');
if (!existsSync(join(shared, 'transcripts'))) {
  console.log(`no recorded sessions in ${shared}: nothing to measure`);
  process.exit(0);
}
const [READ, WRITE, WINDOW, LEAST] = [0.1, 1.25, 100_000, 60_000];
const EVERY = Number(process.env['BOBBIN_BENCH_EVERY'] ?? 1);
/** 0 leaves out none: nothing is a multiple of it. */
const WITHOUT_EVERY = Number(process.env['BOBBIN_BENCH_WITHOUT_EVERY'] ?? 0);
const measures = (await import(
  pathToFileURL(join(shared, 'tools/needed-later/measure.mjs')).href
)) as Measures;
const grading = (await import(
  pathToFileURL(join(shared, 'tools/probes/grade.mjs')).href
)) as Grading;

function toChat({ role, content = '', toolCallId, toolCalls = [] }: Turn): ChatMessage {
  if (role === 'tool') return { role, tool_call_id: toolCallId ?? '', content };
  if (role !== 'assistant' || toolCalls.length === 0) return { role, content };
  const tool_calls = toolCalls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content, tool_calls };
}

/** Messages without calls that nothing answered, and without results that nothing called. */
function valid(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const answered = new Set(
    messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id])),
  );
  const kept = messages.filter(({ tool_calls: calls = [] }) =>
    calls.every(({ id }) => answered.has(id)),
  );
  const called = new Set(kept.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id)));
  return kept.filter(({ tool_call_id: id }) => id === undefined || called.has(id));
}

/** The oldest messages go once a limit is reached, down to half of it; the first stays. */
function dropOldest(limit: number): Prompt {
  let from = 0;
  return async (history) => {
    const shown = (): readonly ChatMessage[] =>
      from === 0 ? history : [...history.slice(0, 1), ...history.slice(from)];
    let left = size(shown());
    if (left > limit) {
      from = Math.max(from, 1);
      while (from < history.length - 1 && left > limit / 2)
        left -= tokens(history[from++] as ChatMessage);
      while (from < history.length - 1 && history[from]?.role === 'tool') from++;
    }
    return shown();
  };
}

/** All but the newest three results are cleared once a threshold is reached; the window is kept by dropping the oldest messages. */
function clearResults(threshold: number): Prompt {
  let to = 0;
  const drop = dropOldest(WINDOW);
  return async (history, session) => {
    const shown = (): readonly ChatMessage[] =>
      history.map((message, i) =>
        message.role === 'tool' && i < to ? { ...message, content: '[cleared]' } : message,
      );
    if (size(shown()) > threshold) {
      const results = history.flatMap(({ role }, i) => (role === 'tool' ? [i] : []));
      to = Math.max(to, results.at(-3) ?? 0);
    }
    return drop(shown(), session);
  };
}

interface Session {
  readonly id: string;
  readonly history: readonly ChatMessage[];
  /** The exact strings of each message. */
  readonly names: readonly (readonly string[])[];
  /** The ends of the histories that the recorded agent sent. */
  readonly requests: readonly number[];
  readonly grades: readonly Grade[];
}

/** What the prompt of one request is asked. */
interface Grade {
  readonly kind: 'cut' | 'sample' | 'probes';
  readonly request: number;
  readonly needed: ReadonlySet<string>;
  readonly probes: readonly Probe[];
}

/** Every so many requests a prompt is asked what the agent used later, wherever in the session that is. */
const SAMPLED = 20;
const HORIZON = 80;

function sessionOf(conversation: Recorded, probes: readonly ProbeCase[]): Session | undefined {
  const all = conversation.messages.map((turn) => ({ turn, chat: toChat(turn) }));
  const history = valid(all.map(({ chat }) => chat));
  if (size(history) <= LEAST) return undefined;
  const kept = new Set(history);
  const turns = all.flatMap(({ turn, chat }) => (kept.has(chat) ? [turn] : []));
  const requests = history.flatMap(({ role }, i) =>
    role === 'assistant' && i > 0 && history[i - 1]?.role !== 'assistant' ? [i] : [],
  );
  const names = history.map((message) =>
    [...measures.entities(measures.unescaped(textOf(message)))].map(lastParts),
  );
  // Cut points count the recorded messages, and some of those were left out.
  const position = (cut: number): number =>
    all.slice(0, cut).filter(({ chat }) => kept.has(chat)).length;
  const needed = (kind: Grade['kind'], cut: number, end: number): readonly Grade[] => {
    const wanted = measures.neededLater(turns, cut, end).needed;
    const request = requests.findLastIndex((each) => each <= cut);
    return wanted.size < 5 ? [] : [{ kind, request, needed: wanted, probes: [] }];
  };
  const atCuts = measures
    .cutPoints(conversation)
    .flatMap(({ cut, end }) => needed('cut', position(cut), position(end)));
  const sampled = requests.flatMap((end, i) =>
    i % SAMPLED === SAMPLED - 1
      ? needed('sample', end, Math.min(history.length, end + HORIZON))
      : [],
  );
  const asked = probes
    .filter(({ id }) => id === conversation.id)
    .map((one) => ({
      kind: 'probes' as const,
      request: requests.findLastIndex((each) => each <= position(one.cut)),
      needed: new Set<string>(),
      probes: one.probes,
    }));
  return {
    id: conversation.id,
    history,
    names,
    requests,
    grades: [...atCuts, ...sampled, ...asked],
  };
}

function lastParts(name: string): string {
  return name.includes('/') ? name.split('/').filter(Boolean).slice(-2).join('/') : name;
}

interface Result {
  bill: number;
  rereads: number;
  rereadBill: number;
  rewritten: number;
  largest: number;
  requests: number;
  readonly cut: number[];
  readonly sample: number[];
  readonly probes: number[];
}

/** The share of each question's facts that a prompt holds, of those that the whole history holds. */
function answersOf(probes: readonly Probe[], prompt: string, history: string): readonly number[] {
  if (probes.length === 0) return [];
  const [held, most] = [grading.grader(prompt), grading.grader(history)];
  return probes.filter((probe) => most(probe) > 0).map((probe) => held(probe) / most(probe));
}

async function replay(session: Session, prompt: Prompt, result: Result): Promise<void> {
  const { history, requests, names, grades } = session;
  const heldBy = new Map<string, number>();
  const reread = new Map<number, number>();
  let last: readonly string[] = [];
  let seen = 0;
  for (const [request, end] of requests.entries()) {
    const sent = await prompt(history.slice(0, end), session.id);
    const keys = sent.map((message) => JSON.stringify(message));
    const same = sharedStart(last, keys);
    result.requests++;
    result.largest = Math.max(result.largest, size(sent));
    if (same < last.length) result.rewritten += size(sent.slice(same));
    result.bill += size(sent.slice(0, same)) * READ + size(sent.slice(same)) * WRITE;
    last = keys;
    const said = text(sent);
    for (; seen < end; seen++) for (const name of names[seen] ?? []) heldBy.set(name, seen);
    const missing = new Set(
      (names[end] ?? []).flatMap((name) => {
        const source = heldBy.get(name);
        return source === undefined || said.includes(name) ? [] : [source];
      }),
    );
    for (const source of missing) {
      if (request - (reread.get(source) ?? -99) < 20) continue;
      reread.set(source, request);
      result.rereads++;
      result.rereadBill += size(sent) * READ + tokens(history[source] as ChatMessage) * WRITE;
    }
    for (const grade of grades.filter((each) => each.request === request)) {
      const known = measures.recall(grade.needed, measures.unescaped(said));
      if (known !== null) result[grade.kind].push(known);
      result.probes.push(...answersOf(grade.probes, said, text(history.slice(0, end))));
    }
  }
}

const THRIFTS = ['gentle', 'careful'] as const;
const folder = mkdtempSync(join(tmpdir(), 'bobbin-cost-'));
const upstream = await cachingProvider();
const store = sqliteStore(join(folder, 'threads.db'), { sync: 'normal' });
const ledger = sqliteLedger(join(folder, 'ledger.db'));
const cache = {
  writePrice: WRITE,
  readPrice: READ,
  ttlMs: 300_000,
  minimumTokens: 1_024,
  markers: 4,
};
const gateway = await startGateway({
  store,
  ledger,
  artifacts: folderArtifacts(join(folder, 'artifacts')),
  upstreams: { openai: upstream.url },
  models: { replayed: { windowTokens: WINDOW, cache } },
  policies: THRIFTS.map((thrift) => ({ model: `replayed-${thrift}`, thrift })),
  // Nothing may be late: what is measured is the bill, not the machine.
  limits: { ownWorkMs: 60_000 },
});
const notChanged = new Set(['late', 'failed-open', 'left-alone']);
const problems: string[] = [];

const throughGateway =
  (thrift: string): Prompt =>
  async (messages, session) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer replay',
        'x-replayed': `${thrift} ${session}`,
        'x-bobbin-thread': `${thrift}-${session}`.replaceAll(/[^\w-]/g, '-'),
      },
      body: JSON.stringify({ model: `replayed-${thrift}`, messages }),
    });
    await response.arrayBuffer();
    const action = response.headers.get('x-bobbin-action') ?? '';
    if (notChanged.has(action))
      problems.push(`${session}: ${action}, ${response.headers.get('x-bobbin-reason')}`);
    return upstream.last();
  };

const methods: readonly Method[] = [
  { name: 'oldest turns dropped', start: () => dropOldest(WINDOW) },
  { name: 'results cleared at 100k', start: () => clearResults(WINDOW) },
  { name: 'results cleared at 60k', start: () => clearResults(LEAST) },
  ...THRIFTS.map((thrift) => ({
    name: `gateway, ${thrift}`,
    start: () => throughGateway(thrift),
  })),
];

const probes = JSON.parse(
  readFileSync(join(shared, 'tools/probes/dev.json'), 'utf8'),
) as ProbeCase[];
const sessions = readdirSync(join(shared, 'transcripts'))
  .flatMap((file) => measures.load(join(shared, 'transcripts', file)))
  .flatMap((conversation) => sessionOf(conversation, probes) ?? [])
  .filter((_, i) => i % EVERY === 0 && i % WITHOUT_EVERY !== 0);
const mean = (list: readonly number[]): number =>
  list.reduce((sum, each) => sum + each, 0) / (list.length || 1);
const millions = (amount: number): string => `${(amount / 1e6).toFixed(2)}M`;

console.log(
  `${sessions.length} sessions, ${sessions.reduce((sum, { requests }) => sum + requests.length, 0)} requests`,
);
console.log(
  'method'.padEnd(26) +
    [
      'bill',
      're-reads',
      'with them',
      'at cut points',
      'anywhere',
      'probes',
      'written again',
      'largest',
    ]
      .map((head) => head.padStart(15))
      .join(''),
);
const results = new Map<string, Result>();
for (const { name, start } of methods) {
  const result: Result = {
    bill: 0,
    rereads: 0,
    rereadBill: 0,
    rewritten: 0,
    largest: 0,
    requests: 0,
    cut: [],
    sample: [],
    probes: [],
  };
  for (const session of sessions) await replay(session, start(), result);
  results.set(name, result);
  console.log(
    name.padEnd(26) +
      [
        millions(result.bill),
        result.rereads,
        millions(result.bill + result.rereadBill),
        mean(result.cut).toFixed(3),
        mean(result.sample).toFixed(3),
        mean(result.probes).toFixed(3),
        millions(result.rewritten),
        result.largest,
      ]
        .map((value) => String(value).padStart(15))
        .join(''),
  );
}
const own = results.get('gateway, gentle') as Result;
for (const [name, other] of results) {
  // A lower threshold, and a thriftier gateway, are other points between what is paid and what is known.
  if (name !== 'oldest turns dropped' && name !== 'results cleared at 100k') continue;
  if (own.bill >= other.bill) problems.push(`not cheaper than ${name}`);
  // Nobody knows more than all: a tie counts only there.
  const knowsMore = (kind: Grade['kind']): boolean =>
    mean(own[kind]) > mean(other[kind]) || mean(own[kind]) === 1;
  if (!knowsMore('cut')) problems.push(`needed after cut points: not above ${name}`);
  if (!knowsMore('sample')) problems.push(`needed later: not above ${name}`);
  if (!knowsMore('probes')) problems.push(`probes: not above ${name}`);
}
if (own.largest > WINDOW) problems.push(`a prompt of ${own.largest} tokens does not fit`);
const sum = await ledger.sum();
console.log(
  `the gateway's ledger: ${sum.requests} requests, ${sum.compactions} compactions, paid ${millions(sum.paidTokens)}, full histories ${millions(sum.fullTokens)}`,
);
await gateway.close();
await ledger.close();
await store.close();
upstream.close();
rmSync(folder, { recursive: true, force: true });
for (const problem of problems) console.log(`✗ ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
