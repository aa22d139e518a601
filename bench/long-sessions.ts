// Long sessions: recorded ones joined, four at a time or as `--joined` says. What does a request cost as the thread grows,
// and what does a reader still know? `--shared FOLDER` holds the recorded conversations and the measures.
import { join, resolve } from 'node:path';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openaiChat } from '@bobbin/codecs';
import { createBobbin, type BobbinOptions } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import type { Recorded, Turn } from './recorded.ts';

type ChatMessage = Parameters<typeof openaiChat.decode>[0][number];
type Method = () => (history: readonly ChatMessage[]) => Promise<readonly ChatMessage[]>;

interface Probe {
  readonly facts: readonly (readonly (readonly string[])[])[];
}
interface ProbedCut {
  readonly id: string;
  readonly cut: number;
  readonly kind: string;
  readonly probes: readonly Probe[];
}
interface Measures {
  load(file: string): readonly Recorded[];
  cutPoints(
    conversation: object,
  ): readonly { readonly cut: number; readonly kind: string; readonly from: number }[];
}
interface Grading {
  grader(context: string): (probe: Probe) => number;
}

const shared = resolve(option('--shared') ?? '../shared');
const JOINED = Number(option('--joined') ?? 4);
const MOST_SESSIONS = Number(option('--sessions') ?? Infinity);
const PRICES = { read: 0.1, write: 1.25 };

const measures = await load<Measures>('tools/needed-later/measure.mjs');
const grading = await load<Grading>('tools/probes/grade.mjs');
const sessions = joinedSessions();

const sizes = sessions.map(({ messages }) => sizeOf(messages)).toSorted((a, b) => a - b);
console.log(`${sessions.length} sessions of ${sizes[0]} to ${sizes.at(-1)} tokens`);
for (const [name, method] of Object.entries(methods())) await report(name, method);

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

async function load<T>(path: string): Promise<T> {
  return (await import(pathToFileURL(join(shared, path)).href)) as T;
}

interface Session {
  readonly messages: readonly ChatMessage[];
  /** Those of the last part: what came before it is not asked for. */
  readonly probes: readonly Probe[];
}

/** Four recorded sessions of one source after another; call ids are made unique. */
function joinedSessions(): readonly Session[] {
  const cases = JSON.parse(
    readFileSync(join(shared, 'tools/probes/dev.json'), 'utf8'),
  ) as ProbedCut[];
  const sources = new Map<
    string,
    Map<string, { readonly id: string; readonly messages: readonly Turn[] }>
  >();
  const parts = cases.map((one) => {
    const [source = ''] = one.id.split('/');
    if (!sources.has(source))
      sources.set(
        source,
        new Map(
          measures
            .load(join(shared, `transcripts/${source}.jsonl.gz`))
            .map((each) => [each.id, each]),
        ),
      );
    const conversation = sources.get(source)?.get(one.id);
    if (conversation === undefined) throw new RangeError(`no conversation ${one.id}`);
    const point = measures
      .cutPoints(conversation)
      .find(({ cut, kind }) => cut === one.cut && kind === one.kind);
    const said = conversation.messages.slice(point?.from ?? 0, one.cut);
    return { said, probes: one.probes };
  });
  const joined: Session[] = [];
  for (let i = 0; i + JOINED <= parts.length && joined.length < MOST_SESSIONS; i += JOINED) {
    const group = parts.slice(i, i + JOINED);
    const messages = group.flatMap(({ said }, k) =>
      answered(said.map((turn) => toChat(turn, `${k}-`))),
    );
    joined.push({ messages, probes: group.at(-1)?.probes ?? [] });
  }
  return joined;
}

function toChat(turn: Turn, prefix: string): ChatMessage {
  const content = turn.content ?? '';
  if (turn.role === 'tool')
    return { role: 'tool', tool_call_id: prefix + turn.toolCallId, content };
  if (turn.role !== 'assistant' || turn.toolCalls === undefined || turn.toolCalls.length === 0)
    return { role: turn.role, content };
  const tool_calls = turn.toolCalls.map(({ id, name, args }) => ({
    id: prefix + id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role: 'assistant', content, tool_calls } as ChatMessage;
}

/** A session may end inside a round: calls without results are left out. */
function answered(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const ids = new Set(
    messages.flatMap((each) => ('tool_call_id' in each ? [each.tool_call_id] : [])),
  );
  const isOpen = (message: ChatMessage): boolean =>
    'tool_calls' in message && (message.tool_calls ?? []).some(({ id }) => !ids.has(id));
  return messages.filter((message) => !isOpen(message));
}

function methods(): Readonly<Record<string, Method>> {
  const all: Record<string, Method> = { 'full history': () => async (history) => history };
  for (const window of [1_000_000, 200_000, 64_000]) {
    const size = `${window / 1_000}k`;
    all[`drop the oldest ${size}`] = dropOldest(window);
    all[`summary at 95 % ${size}`] = bobbin(window, { preset: 'claude-code' });
    for (const thrift of ['careful', 'balanced', 'frugal'] as const)
      all[`Bobbin ${thrift} ${size}`] = bobbin(window, { thrift });
  }
  return all;
}

function bobbin(window: number, options: Pick<BobbinOptions, 'preset' | 'thrift'>): Method {
  return () => {
    const engine = createBobbin({ ...options, codec: openaiChat, counter: chars4(), window });
    return async (history) => (await engine.fit(history)).messages;
  };
}

function dropOldest(limit: number): Method {
  return () => {
    let from = 0;
    return async (history) => {
      const shown = (): readonly ChatMessage[] =>
        from === 0 ? history : [...history.slice(0, 1), ...history.slice(from)];
      if (sizeOf(shown()) > limit) {
        let size = sizeOf(shown());
        from = Math.max(from, 1);
        while (from < history.length - 1 && size > limit / 2)
          size -= tokensOf(history[from++] as ChatMessage);
        while (from < history.length - 1 && history[from]?.role === 'tool') from++;
      }
      return shown();
    };
  };
}

function textOf(message: ChatMessage): string {
  const calls = 'tool_calls' in message ? (message.tool_calls ?? []) : [];
  const content =
    typeof message.content === 'string' ? message.content : JSON.stringify(message.content ?? '');
  return content + calls.map((call) => `\n${JSON.stringify(call)}`).join('');
}

function tokensOf(message: ChatMessage): number {
  return Math.ceil(textOf(message).length / 4) + 4;
}

function sizeOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

/** Bill per request in each quarter of the session, and what the last prompt answers of its last part. */
async function report(name: string, make: Method): Promise<void> {
  const quarters = [0, 0, 0, 0];
  const requests = [0, 0, 0, 0];
  const grades: number[] = [];
  let [total, largest, rewritten] = [0, 0, 0];
  for (const { messages, probes } of sessions) {
    const prompt = make();
    let last: readonly string[] = [];
    let sent: readonly ChatMessage[] = [];
    const ends = messages.flatMap(({ role }, i) =>
      i > 0 && role === 'assistant' && messages[i - 1]?.role !== 'assistant' ? [i] : [],
    );
    for (const [request, end] of ends.entries()) {
      sent = await prompt(messages.slice(0, end));
      const keys = sent.map((message) => JSON.stringify(message));
      let same = 0;
      while (same < last.length && keys[same] === last[same]) same++;
      let bill = 0;
      const before = new Set(last.slice(same));
      for (const [i, message] of sent.entries()) {
        bill += tokensOf(message) * (i < same ? PRICES.read : PRICES.write);
        if (i >= same && before.has(keys[i] as string)) rewritten += tokensOf(message);
      }
      const quarter = Math.floor((request * 4) / ends.length);
      quarters[quarter] = (quarters[quarter] ?? 0) + bill;
      requests[quarter] = (requests[quarter] ?? 0) + 1;
      total += bill;
      largest = Math.max(largest, sizeOf(sent));
      last = keys;
    }
    const grade = grading.grader(sent.map(textOf).join('\n'));
    grades.push(...probes.map(grade));
  }
  const perRequest = quarters.map((bill, i) => Math.round(bill / (requests[i] || 1)));
  const known = grades.reduce((sum, each) => sum + each, 0) / (grades.length || 1);
  console.log(
    [
      name.padEnd(24),
      `bill ${(total / 1e6).toFixed(2)}M`,
      `probes ${known.toFixed(3)}`,
      `written again ${(rewritten / 1e6).toFixed(2)}M`,
      `largest ${largest}`,
      `a request in each quarter ${perRequest.join(' ')}`,
    ].join('  '),
  );
}
