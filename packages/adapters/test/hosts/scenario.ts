import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import { providerServer, type ProviderRequest, type ProviderStep } from '@bobbin/testing';
import type { Host, HostUse } from './host-run.ts';

const WINDOW = 16_000;
const RULE = 'Never touch deploy/prod.';
/** Long enough that a compaction would shorten it, and holds no rule, path or number that a summary keeps. */
const PINNED = `A letter for later. ${'The tide was low and the boats lay dry. '.repeat(30)}The end of it.`;
/** The first file, which only recall can find at the end. */
const FIRST = 'The lighthouse keeper prefers marmalade.';
const QUERY = 'lighthouse keeper';
const MEMORY_TOOLS = ['read_artifact', 'recall'] as const;

/** What the model does in a turn. */
type Turn = readonly ProviderStep[];

function turnOf(requests: number): Turn {
  return [
    ...Array.from({ length: requests - 1 }, () => calling('read_file', { path: 'src/a.ts' })),
    answering('Read.'),
  ];
}

function calling(tool: string, args: JsonObject): ProviderStep {
  return { kind: 'call', tool, args, usage: usageOf };
}

function answering(text: string): ProviderStep {
  return { kind: 'answer', text, usage: usageOf };
}

function usageOf(request: ProviderRequest): { inputTokens: number } {
  return { inputTokens: tokensIn(request) };
}

/** The provider's own tokens, which no client knows: everything in a request counts. */
function tokensIn({ body }: ProviderRequest): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(body)) / 3.1);
}

/** Turns of ten requests; in the middle one the provider refuses a prompt once. */
function longTurns(requests: number): Turn[] {
  const turns = Array.from({ length: Math.ceil(requests / 10) }, (_, i) =>
    turnOf(Math.min(10, requests - i * 10)),
  );
  const middle = Math.floor(turns.length / 2);
  return turns.map((turn, i) => (i === middle ? [{ kind: 'overflow' }, ...turn.slice(1)] : turn));
}

/** Files: short ones first, so that the first compaction is the one that the host asks for. */
function files(): () => string {
  let read = 0;
  return () => {
    const lines = read < 10 ? 6 : 60;
    const first = read === 0 ? `${FIRST}\n` : '';
    return `${first}src/${read++}.ts\n${'export const answer = compute(1);\n'.repeat(lines)}`;
  };
}

/**
 * A conversation of so many requests in a real framework: a message is pinned, a compaction undone, a prompt refused, a
 * compacted text recalled. The provider refuses invalid requests by itself; every request is held against the rest here.
 */
export async function plays(
  t: TestContext,
  host: Host,
  requests: number,
  memory: HostUse['memory'],
): Promise<void> {
  const end = memory === 'offered' ? [calling('recall', { query: QUERY })] : [];
  const begin = [turnOf(6), turnOf(6), turnOf(1)] as const;
  const last = [...end, answering('It is marmalade.')];
  const middle = longTurns(requests - begin.flat().length - last.length);
  const server = await providerServer(host.dialect, ...[...begin, ...middle, last].flat());
  t.after(() => server.close());
  const run = await host.open(server, { windowTokens: WINDOW, memory, readFile: files() });
  t.after(() => run.close?.());

  await run.turn(`${PINNED} ${RULE}`);
  await run.pin(PINNED);
  await run.turn('Go on.');
  const before = listOf(server.requests.at(-1));
  await run.compact();
  await run.turn('And?');
  const compacted = listOf(server.requests.at(-1));
  assert.ok(sizeOf(compacted) < sizeOf(before), 'a compaction on request shortens the prompt');
  assert.equal(await run.undo(), true);
  const undone = server.requests.length;
  for (const turn of middle) await run.turn(`Go on: ${turn.length} more.`);
  assert.deepEqual(
    listOf(server.requests[undone]).slice(0, before.length),
    before,
    'undo brings the prompt back',
  );
  assert.doesNotMatch(server.requests.at(-1)?.text ?? '', /marmalade/, 'it is compacted');
  assert.match(await run.recall(QUERY), /marmalade/);
  await run.turn('What does the keeper prefer?');
  if (memory === 'offered') assert.match(server.requests.at(-1)?.text ?? '', /marmalade/);
  server.expectDone();
  assert.equal(server.requests.length, requests);
  assert.deepEqual(server.requests.flatMap(faultsOf), []);
}

/** What is wrong with a request. */
function faultsOf(request: ProviderRequest, index: number): readonly string[] {
  const { body, text } = request;
  const tokens = tokensIn(request);
  const offered = JSON.stringify(body['tools'] ?? body['toolConfig']);
  const said = JSON.stringify(listOf(request));
  const unoffered = MEMORY_TOOLS.filter(
    (name) => new RegExp(`\\b${name}\\b`).test(said) && !offered.includes(`"${name}"`),
  );
  return [
    ...(tokens > WINDOW ? [`${tokens} tokens`] : []),
    ...(text.split(PINNED).length === 2 ? [] : ['the pinned message is not there once']),
    ...(text.includes(RULE) ? [] : ['the rule is not there']),
    ...unoffered.map((name) => `names ${name}, which is not offered`),
  ].map((fault) => `request ${index + 1}: ${fault}`);
}

/** The conversation in a request. */
function listOf(request: ProviderRequest | undefined): readonly Json[] {
  const { messages, input, contents } = request?.body ?? {};
  const list = messages ?? input ?? contents;
  return Array.isArray(list) ? list.filter((item: Json) => isJsonObject(item)) : [];
}

function sizeOf(list: readonly Json[]): number {
  return JSON.stringify(list).length;
}
