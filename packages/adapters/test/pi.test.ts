import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bobbinExtension,
  type BeforeCompact,
  type PiCompaction,
  type PiContext,
  type PiTool,
} from '@bobbin/adapters/pi';
import { memoryStore, type Summarizer } from '@bobbin/core';
import { extractSummarizer } from '@bobbin/core/internal';

type Answer = Promise<{ compaction: PiCompaction } | undefined>;

/** As much of pi as an extension meets: it calls the handler and offers the tools. */
function installed(extension: ReturnType<typeof bobbinExtension>): {
  readonly tools: ReadonlyMap<string, PiTool>;
  readonly compact: (asked: BeforeCompact) => Answer;
} {
  const tools = new Map<string, PiTool>();
  let handler: ((event: BeforeCompact, context: PiContext) => Answer) | undefined;
  extension({
    on: (_event, given) => {
      handler = given;
    },
    registerTool: (tool) => void tools.set(tool.name, tool),
  });
  return { tools, compact: async (asked) => handler?.(asked, CONTEXT) };
}

const CONTEXT: PiContext = contextOf([]);

function contextOf(branch: readonly { id: string }[]): PiContext {
  return { sessionManager: { getSessionId: () => 'session-1', getBranch: () => branch } };
}

function message(id: number, body: object): { id: string } {
  const parentId = id === 0 ? null : `e${id - 1}`;
  const timestamp = '2026-11-01T00:00:00.000Z';
  const said = { ...body, timestamp: 0 };
  const entry = { type: 'message', id: `e${id}`, parentId, timestamp, message: said };
  return entry;
}

/** Entries of a pi session: a task, then rounds of a tool. */
function entriesOf(rounds: number): { id: string }[] {
  const entries = [
    message(0, { role: 'user', content: 'Rule: never touch /etc/heron.conf. Fix the tests.' }),
  ];
  for (let i = 0; i < rounds; i++) {
    const call = {
      type: 'toolCall',
      id: `c${i}`,
      name: 'bash',
      arguments: { command: `make t${i}` },
    };
    entries.push(message(2 * i + 1, { role: 'assistant', content: [call], stopReason: 'toolUse' }));
    const failure = `run ${i}: expected ${i * 7} but was ${i * 7 + 1} at /srv/app/t${i}.ts:${i}`;
    const text = `${'The runner compiles and starts. '.repeat(20)}\n${failure}`;
    const content = [{ type: 'text', text }];
    const result = {
      role: 'toolResult',
      toolCallId: `c${i}`,
      toolName: 'bash',
      isError: false,
      content,
    };
    entries.push(message(2 * i + 2, result));
  }
  return entries;
}

function event(branchEntries: readonly { id: string }[], firstKeptEntryId: string): BeforeCompact {
  const settings = { reserveTokens: 16_384 };
  const preparation = { firstKeptEntryId, tokensBefore: 9_000, settings };
  return { preparation, branchEntries, signal: new AbortController().signal };
}

test('B24 pi is answered with a summary of all that it does not keep', async () => {
  const { compact } = installed(bobbinExtension());
  const answer = await compact(event(entriesOf(20), 'e31'));
  assert.ok(answer !== undefined);
  const { summary, ...rest } = answer.compaction;
  assert.deepEqual(rest, {
    firstKeptEntryId: 'e31',
    tokensBefore: 9_000,
    details: { bobbin: { thread: 'session-1', version: 1 } },
  });
  assert.match(summary, /never touch \/etc\/heron\.conf/);
});

test('B24 a cut between a call and its result moves before the call: nothing is lost between', async () => {
  const { compact } = installed(bobbinExtension());
  const answer = await compact(event(entriesOf(20), 'e32'));
  assert.equal(answer?.compaction.firstKeptEntryId, 'e31');
});

test('B9 the next compaction of pi goes on from the one before', async () => {
  const store = memoryStore();
  const { compact } = installed(bobbinExtension({ store }));
  await compact(event(entriesOf(20), 'e31'));
  const second = await compact(event(entriesOf(40), 'e71'));
  assert.deepEqual(second?.compaction.details.bobbin, { thread: 'session-1', version: 2 });
  assert.match(second?.compaction.summary ?? '', /never touch \/etc\/heron\.conf/);
});

test('where there is nothing to summarise, pi goes on by itself', async () => {
  const { compact } = installed(bobbinExtension());
  assert.equal(await compact(event(entriesOf(3), 'e0')), undefined);
});

test('C26 pi has read_artifact and recall', async () => {
  const { compact, tools } = installed(bobbinExtension());
  assert.deepEqual([...tools.keys()], ['read_artifact', 'recall']);
  await compact(event(entriesOf(20), 'e31'));
  const recall = tools.get('recall');
  const found = await recall?.execute('1', { query: 't3.ts' }, undefined, undefined, CONTEXT);
  assert.match(found?.content[0]?.text ?? '', /expected 21 but was 22 at \/srv\/app\/t3\.ts:3/);
});

test('C26 what the user hid from the model or edited is neither in the summary nor found by recall', async () => {
  const { compact, tools } = installed(bobbinExtension());
  const secret = 'the phrase is tangerine horizon, error: EACCES at /srv/vault/hidden.txt';
  const hidden = {
    role: 'bashExecution',
    command: 'cat notes',
    output: secret,
    exitCode: 0,
    excludeFromContext: true,
  };
  const entries = [...entriesOf(20), message(41, hidden)];
  const edit = { type: 'context_edit', id: 'e42', parentId: 'e41', targetId: 'e8' };
  entries.push({ ...edit, replacement: { content: 'run 3: see elsewhere' } } as { id: string });
  entries.push(message(43, { role: 'user', content: 'Go on.' }));
  entries.push(message(44, { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] }));
  const answer = await compact(event(entries, 'e43'));
  assert.ok(answer !== undefined);
  assert.equal(answer.compaction.firstKeptEntryId, 'e43');
  assert.doesNotMatch(answer.compaction.summary, /tangerine|hidden\.txt|expected 21 but was 22/);
  const recall = async (query: string): Promise<string> => {
    const found = await tools.get('recall')?.execute('1', { query }, undefined, undefined, CONTEXT);
    return found?.content[0]?.text ?? '';
  };
  assert.doesNotMatch(await recall('tangerine horizon'), /phrase is/);
  assert.doesNotMatch(await recall('t3.ts'), /expected 21/);
  assert.match(await recall('run 3 elsewhere'), /run 3: see elsewhere/);
});

function rules(version: number): object {
  const content = `AGENTS.md, version ${version}: ${'Keep the loom oiled. '.repeat(200)}`;
  return { role: 'system', content };
}

test('H3 system text is in no summary: pi sends it with every request', async () => {
  const { compact } = installed(bobbinExtension());
  const [task, ...rest] = entriesOf(20);
  const entries = [
    { ...message(100, rules(1)), parentId: null },
    { ...(task as { id: string }), parentId: 'e100' },
    ...rest.slice(0, 20),
    { ...message(101, rules(2)), parentId: 'e20' },
    { ...(rest[20] as { id: string }), parentId: 'e101' },
    ...rest.slice(21),
  ];
  const answer = await compact(event(entries, 'e31'));
  const { summary = '' } = answer?.compaction ?? {};
  assert.match(summary, /never touch \/etc\/heron\.conf/);
  assert.doesNotMatch(summary, /AGENTS\.md|loom/);
});

test('H3 recall works in the next process, though the default store is gone with the last one', async () => {
  const { tools } = installed(bobbinExtension());
  const compaction = {
    type: 'compaction',
    id: 'e41',
    parentId: 'e40',
    timestamp: '2026-11-01T00:00:00.000Z',
    summary: 'Tests were run.',
    firstKeptEntryId: 'e31',
    tokensBefore: 9_000,
  };
  const context = contextOf([...entriesOf(20), compaction]);
  const recall = tools.get('recall');
  const found = await recall?.execute('1', { query: 't3.ts' }, undefined, undefined, context);
  assert.match(found?.content[0]?.text ?? '', /expected 21 but was 22 at \/srv\/app\/t3\.ts:3/);
  const kept = await recall?.execute('2', { query: 't19.ts' }, undefined, undefined, context);
  assert.doesNotMatch(kept?.content[0]?.text ?? '', /t19\.ts:19/, 'pi shows it');
});

test('H3 the instructions of /compact reach the summarizer; without one, pi follows them itself', async () => {
  const asked: (string | undefined)[] = [];
  const summarizer: Summarizer = {
    id: 'scripted',
    summarize(request) {
      asked.push(request.instructions);
      return extractSummarizer.summarize(request);
    },
  };
  const withModel = installed(bobbinExtension({ summarizer }));
  const given = { ...event(entriesOf(20), 'e31'), customInstructions: 'Keep the failures.' };
  assert.ok((await withModel.compact(given)) !== undefined);
  assert.deepEqual(asked, ['Keep the failures.']);
  const alone = installed(bobbinExtension());
  assert.equal(await alone.compact(given), undefined);
  const recall = alone.tools.get('recall');
  const found = await recall?.execute('1', { query: 't3.ts' }, undefined, undefined, CONTEXT);
  assert.match(found?.content[0]?.text ?? '', /expected 21 but was 22/);
});

function thought(i: number): object {
  return { type: 'thinking', thinking: `Test ${i} is next.`, thinkingSignature: `sig${i}` };
}

test('H1 a running loop with bound thinking ends with the summary, which has the newest result', async () => {
  const { compact } = installed(bobbinExtension());
  const entries = entriesOf(20).map((entry, i) => {
    const { message: said } = entry as unknown as { message: { role: string; content: object[] } };
    if (said.role !== 'assistant') return entry;
    return { ...entry, message: { ...said, content: [thought(i), ...said.content] } };
  });
  const { summary, ...rest } = (await compact(event(entries, 'e31')))?.compaction ?? assert.fail();
  assert.deepEqual(Object.keys(rest), ['tokensBefore', 'details'], 'nothing is kept');
  assert.match(
    summary,
    /## Newest result\n\[Late result of bash[^]*run 19: expected 133 but was 134/,
  );
});
