import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bobbinPlugin,
  type OpenCodeInput,
  type OpenCodeMessage,
  type OpenCodePart,
} from '@bobbin/adapters/opencode';
import type { CompactionEvent } from '@bobbin/core';

/** A session as OpenCode sends it: everything, each time. */
class Session {
  readonly messages: OpenCodeMessage[] = [];

  user(text: string): void {
    this.add('user', [said(text)]);
  }

  /** One step of the assistant, with a tool whose part holds both the call and the output. */
  step(tool: string, output: string): void {
    const time = { start: 0, end: 1 };
    const state = { status: 'completed', input: {}, output, title: '', metadata: {}, time };
    const callID = `call_${this.messages.length}`;
    const used = part({ type: 'tool', callID, tool, state });
    const text = said(`I use ${tool} (${this.messages.length}).`);
    this.add('assistant', [{ type: 'step-start' }, text, used, { type: 'step-finish' }]);
  }

  add(role: string, parts: OpenCodePart[], rest: object = {}): void {
    const id = `msg_${this.messages.length}`;
    this.messages.push({ info: { id, sessionID: 'ses_1', role, ...rest }, parts });
  }
}

function said(text: string): OpenCodePart {
  return part({ type: 'text', text });
}

function part(fields: { readonly type: string; readonly [name: string]: unknown }): OpenCodePart {
  return fields;
}

test('C18 OpenCode is shown a fitted prompt and keeps all that was said', async () => {
  const compactions: CompactionEvent[] = [];
  const hooks = await bobbinPlugin({
    window: 6_000,
    budget: { rehydrationTokens: 0 },
    onEvent: (event) => {
      if (event.kind === 'completed') compactions.push(event);
    },
  })();
  const session = new Session();
  session.user('Rule: sign every commit as HERON-7731. Read all the files.');
  let shown: OpenCodeMessage[] = [];
  for (let i = 0; i < 60; i++) {
    session.step('read', `file ${i}: ${'const x = 1; '.repeat(60)}`);
    shown = [...session.messages];
    await hooks['experimental.chat.messages.transform']({}, { messages: shown });
    assert.ok(JSON.stringify(shown).length < 6_000 * 4, `${i}`);
    assert.match(JSON.stringify(shown), /sign every commit as HERON-7731/);
    assert.equal(shown.at(-1), session.messages.at(-1), 'what is kept is the very same message');
  }
  assert.ok(compactions.length >= 3);
  assert.equal(session.messages.length, 61);
  assert.ok(shown.length < 61);
  assert.ok(
    shown.some(({ info }) => info.id.startsWith('msg_bobbin_')),
    'a summary replaces the rest',
  );
});

test('C18 OpenCode is shown the beginning and the end of a huge output', async () => {
  const hooks = await bobbinPlugin({ window: 6_000, budget: { rehydrationTokens: 0 } })();
  const session = new Session();
  session.user('Read it.');
  session.step('read', `begin ${'word '.repeat(5_000)} end`);
  const shown = [...session.messages];
  await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  const text = JSON.stringify(shown);
  assert.ok(text.length < 10_000);
  assert.match(text, /begin word/);
  assert.match(text, /artifact:/);
  assert.equal(JSON.stringify(session.messages).length > 25_000, true, 'the host has it whole');
});

test('B11 when OpenCode compacts by itself, its prompt says what must survive', async () => {
  const hooks = await bobbinPlugin()();
  const session = new Session();
  session.user('Rule: never touch /etc/heron.conf.');
  session.step('read', 'error: EACCES at /srv/app/main.ts:41');
  await hooks['experimental.chat.messages.transform']({}, { messages: [...session.messages] });
  const output = { context: [] as string[] };
  await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, output);
  assert.equal(output.context.length, 1);
  assert.match(
    output.context[0] ?? '',
    /^The summary must keep all of this:[^]*\/etc\/heron\.conf/,
  );
  const unknown = { context: [] as string[] };
  await hooks['experimental.session.compacting']({ sessionID: 'ses_2' }, unknown);
  assert.deepEqual(unknown.context, []);
});

test('C18 every message of OpenCode keeps its seat, also where it says nothing or nothing that is known', async () => {
  const hooks = await bobbinPlugin()();
  const session = new Session();
  session.add('assistant', []);
  session.add('user', [part({ type: 'compaction', auto: true })]);
  session.add('assistant', [said('We built it.')], { summary: true });
  session.user('Go on.');
  session.add('assistant', [{ type: 'step-start' }, { type: 'step-finish' }]);
  session.add('user', [part({ type: 'subtask', prompt: 'Review it.', agent: 'reviewer' })]);
  session.add('user', [part({ type: 'hologram', of: 'a ship' })]);
  session.add('assistant', [{ type: 'step-start' }]);
  const shown = [...session.messages];
  await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  assert.deepEqual(shown, session.messages);
});

test('B11 the next compaction of OpenCode gets what came after the last one', async () => {
  const hooks = await bobbinPlugin()();
  const before = new Session();
  before.user('Build the importer in src/old.ts.');
  before.step('read', 'done with src/old.ts');
  await hooks['experimental.chat.messages.transform']({}, { messages: before.messages });
  const later = new Session();
  later.add('user', [part({ type: 'compaction', auto: true })]);
  later.add('assistant', [said('The importer is finished.')], { summary: true });
  later.user('Now build the exporter in src/new.ts, never touch prod.db.');
  later.step('read', 'working on src/new.ts');
  await hooks['experimental.chat.messages.transform']({}, { messages: later.messages });
  const output = { context: [] as string[] };
  await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, output);
  assert.match(output.context[0] ?? '', /never touch prod\.db/);
  assert.doesNotMatch(output.context[0] ?? '', /Task: What did we do/);
});

/** A session after a compaction of OpenCode, which goes on by itself. */
function compactedSession(round: number): Session {
  const session = new Session();
  const id = `msg_compaction_${round}`;
  session.add('user', [part({ type: 'compaction', auto: true })], { id });
  session.add('assistant', [said('Half of it is done.')], { summary: true });
  const text = 'Continue if you have next steps.';
  session.add('user', [part({ type: 'text', text, synthetic: true })]);
  session.step('read', `wrote /srv/ledger-${round}.csv`);
  return session;
}

test('B11 every compaction of OpenCode gets what the user asked and ruled, and no text of OpenCode replaces it', async () => {
  const hooks = await bobbinPlugin()();
  const promptOf = async ({ messages }: Session): Promise<string> => {
    const output = { context: [] as string[] };
    await hooks['experimental.chat.messages.transform']({}, { messages: [...messages] });
    await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, output);
    return output.context[0] ?? '';
  };
  const resumed = await promptOf(compactedSession(0));
  assert.match(resumed, /ledger-0\.csv/);
  assert.doesNotMatch(resumed, /## Original Task/);
  const session = new Session();
  session.user('Migrate the ledger. Rule: never touch prod.db.');
  session.step('read', 'wrote /srv/ledger-1.csv');
  const task = /## Original Task\nMigrate the ledger\. Rule: never touch prod\.db\.\n/;
  const first = await promptOf(session);
  assert.match(first, task);
  assert.equal(await promptOf(session), first, 'a compaction that failed gets the same again');
  for (const round of [2, 3]) {
    const reported = await promptOf(compactedSession(round));
    assert.match(reported, task);
    assert.match(reported, /Rule: never touch prod\.db\./);
    assert.match(reported, new RegExp(`ledger-${round}\\.csv`));
  }
  const anew = new Session();
  anew.user('Build the exporter.');
  assert.doesNotMatch(await promptOf(anew), /ledger|prod\.db/, 'the user took all of it back');
});

test('C18 what Bobbin writes for OpenCode has a clean head, whatever became of the messages beside it', async () => {
  const hooks = await bobbinPlugin({ window: 2_500, budget: { rehydrationTokens: 0 } })();
  const session = new Session();
  const head = { time: { created: 1 }, agent: 'build' };
  const model = { providerID: 'p', modelID: 'm' };
  const user = { ...head, model, system: 'Once only.', summary: { diffs: [] } };
  session.add('user', [said('Read all.')], user);
  session.add('assistant', [said('partial')], {
    ...head,
    ...model,
    parentID: 'msg_0',
    mode: 'build',
    path: { cwd: '/', root: '/' },
    cost: 7,
    tokens: { input: 900, output: 9, reasoning: 0, cache: { read: 0, write: 0 } },
    finish: 'stop',
    error: { name: 'APIError', data: { message: 'overloaded' } },
  });
  for (let i = 0; i < 40; i++) session.step('read', `file ${i}: ${'const x = 1; '.repeat(60)}`);
  const shown = [...session.messages];
  await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  const written = shown.filter(({ info }) => info.id.startsWith('msg_bobbin_'));
  const byRole = Object.groupBy(written, ({ info }) => info.role);
  for (const { info } of byRole['user'] ?? []) {
    const { id: _, ...rest } = info;
    assert.deepEqual(rest, { sessionID: 'ses_1', role: 'user', ...head, model });
  }
  const tokens = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };
  for (const { info } of byRole['assistant'] ?? []) {
    const { id: _, ...rest } = info;
    const path = { cwd: '/', root: '/' };
    const own = { parentID: 'msg_0', mode: 'build', path, cost: 0, tokens };
    assert.deepEqual(rest, { sessionID: 'ses_1', role: 'assistant', ...head, ...model, ...own });
  }
  assert.ok(written.length > 0);
});

function lines(name: string): string {
  return Array.from({ length: 900 }, (_, i) => `${name} line ${i}`).join('\n');
}

test('C18 equal texts of a changed message both stay, and every written part has its own id', async () => {
  const hooks = await bobbinPlugin({ window: 6_000, budget: { rehydrationTokens: 0 } })();
  const session = new Session();
  session.user('Read them.');
  const state = { status: 'completed', input: {}, output: 'word '.repeat(5_000) };
  const tool = { type: 'tool', callID: 'c1', tool: 'read', state };
  session.add('assistant', [said('Next.'), said('Next.'), part(tool)]);
  const shown = [...session.messages];
  await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  const texts = (shown[1]?.parts ?? []).flatMap((each) => ('text' in each ? [each.text] : []));
  assert.deepEqual(texts, ['Next.', 'Next.']);
  assert.ok(JSON.stringify(shown).length < 10_000);
  const long = new Session();
  long.add('user', [said(lines('first')), said(lines('second')), said('Compare them.')]);
  const both = [...long.messages];
  await hooks['experimental.chat.messages.transform']({}, { messages: both });
  const parts = both.flatMap((each) => each.parts) as unknown as { id?: string; text: string }[];
  const ids = parts.flatMap(({ id }) => (id === undefined ? [] : [id]));
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(ids.length >= 2, 'both were too long');
  assert.match(parts[0]?.text ?? '', /^\[Externalized Content[^]*first line 0/);
  assert.match(parts[1]?.text ?? '', /^\[Externalized Content[^]*second line 0/);
  assert.equal(parts.at(-1)?.text, 'Compare them.');
});

test('H4 OpenCode is offered read_artifact and recall, which read what its session has lost', async () => {
  const hooks = await bobbinPlugin({ window: 6_000 })();
  const session = new Session();
  session.user('Read all the files.');
  let shown: OpenCodeMessage[] = [];
  for (let i = 0; i < 40; i++) {
    session.step('read', `file ${i}: spool_${i} ${'const x = 1; '.repeat(60)}`);
    shown = [...session.messages];
    await hooks['experimental.chat.messages.transform']({}, { messages: shown });
  }
  assert.deepEqual(Object.keys(hooks.tool), ['read_artifact', 'recall']);
  assert.doesNotMatch(JSON.stringify(shown), /spool_1 /);
  const found = await hooks.tool['recall']?.execute({ query: 'spool_1' }, { sessionID: 'ses_1' });
  assert.match(found ?? '', /file 1: spool_1 /);
  const none = await hooks.tool['recall']?.execute({ query: 'spool_1' }, { sessionID: 'ses_2' });
  assert.equal(none, 'Nothing that was compacted holds these words.');
  const defined = { description: '', parameters: {}, jsonSchema: {} };
  await hooks['tool.definition']({ toolID: 'read_artifact' }, defined);
  assert.deepEqual((defined.jsonSchema as { required?: unknown }).required, ['id']);
  const other = { description: '', parameters: {}, jsonSchema: { type: 'object' } };
  await hooks['tool.definition']({ toolID: 'bash' }, other);
  assert.deepEqual(other.jsonSchema, { type: 'object' });
});

/** A client of OpenCode that knows two models. */
function clientOf(limits: Readonly<Record<string, number>>): OpenCodeInput['client'] {
  const models = Object.fromEntries(
    Object.entries(limits).map(([id, context]) => [id, { limit: { context, output: 1_000 } }]),
  );
  return { config: { providers: async () => ({ data: { providers: [{ id: 'p', models }] } }) } };
}

test('H4 the window follows the model in use, unless the options name one', async () => {
  const client = clientOf({ small: 8_000, large: 200_000 });
  const session = new Session();
  session.user('Read all the files.');
  for (let i = 0; i < 60; i++) session.step('read', `file ${i}: ${'const x = 1; '.repeat(60)}`);
  const charsWith = async (plugin: ReturnType<typeof bobbinPlugin>, modelID: string) => {
    const hooks = await plugin(client === undefined ? {} : { client });
    const model = { providerID: 'p', modelID };
    const [first, ...rest] = session.messages as [OpenCodeMessage, ...OpenCodeMessage[]];
    const messages = [{ ...first, info: { ...first.info, model } }, ...rest];
    await hooks['experimental.chat.messages.transform']({}, { messages });
    return JSON.stringify(messages).length;
  };
  const whole = JSON.stringify(session.messages).length;
  const large = await charsWith(bobbinPlugin(), 'large');
  const small = await charsWith(bobbinPlugin(), 'small');
  assert.ok(small < 8_000 * 4 && large > 1.5 * small, `${small} and ${large} of ${whole}`);
  assert.ok((await charsWith(bobbinPlugin({ window: 6_000 }), 'large')) < 6_000 * 4);
  assert.ok((await charsWith(bobbinPlugin(), 'unknown')) < whole * 1.1, 'no limit is known');
});

test('H1 a tool loop of OpenCode that goes on has its thinking, or starts anew from what the user says', async () => {
  let compactions = 0;
  const hooks = await bobbinPlugin({
    window: 6_000,
    onAfterCompaction: () => (compactions += 1),
  })();
  const session = new Session();
  session.user('Read all the files.');
  for (let i = 0; i < 60; i++) {
    const state = { status: 'completed', input: {}, output: `file ${i}: ${'x = 1; '.repeat(90)}` };
    const metadata = { anthropic: { signature: `sig${i}` } };
    session.add('assistant', [
      { type: 'step-start' },
      part({ type: 'reasoning', text: `Step ${i} is next.`, metadata }),
      part({ type: 'tool', callID: `call_${i}`, tool: 'read', state }),
    ]);
    const shown = [...session.messages];
    await hooks['experimental.chat.messages.transform']({}, { messages: shown });
    const loop = shown.slice(shown.findLastIndex(({ info }) => info.role === 'user') + 1);
    const parts = loop.flatMap((each) => each.parts).filter(({ type }) => type !== 'step-start');
    const isRunning = parts.some(({ type }) => type === 'tool');
    assert.ok(!isRunning || parts[0]?.type === 'reasoning', `step ${i}: ${parts[0]?.type}`);
    assert.match(JSON.stringify(shown.slice(-2)), new RegExp(`file ${i}: `), 'the newest result');
  }
  assert.ok(compactions >= 3, `${compactions} compactions`);
});

test('H4 a plugin that cannot load says so', async (t) => {
  const printed = t.mock.method(console, 'error', () => undefined);
  await assert.rejects(bobbinPlugin({ window: -1 })());
  const [line] = printed.mock.calls.map(({ arguments: [text] }) => String(text));
  assert.match(line ?? '', /^Bobbin is not loaded: .*window/);
});
