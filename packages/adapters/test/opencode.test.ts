import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bobbinPlugin, type OpenCodeMessage, type OpenCodePart } from '@bobbin/adapters/opencode';
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
    'a summary stands for the rest',
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

test('B11 when OpenCode compacts by itself, its prompt is told what must survive', async () => {
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

test('B11 the next compaction of OpenCode is told of what came behind the last one', async () => {
  const hooks = await bobbinPlugin()();
  const before = new Session();
  before.user('Build the importer in src/old.ts.');
  before.step('read', 'done with src/old.ts');
  await hooks['experimental.chat.messages.transform']({}, { messages: before.messages });
  const behind = new Session();
  behind.add('user', [part({ type: 'compaction', auto: true })]);
  behind.add('assistant', [said('The importer is finished.')], { summary: true });
  behind.user('Now build the exporter in src/new.ts, never touch prod.db.');
  behind.step('read', 'working on src/new.ts');
  await hooks['experimental.chat.messages.transform']({}, { messages: behind.messages });
  const output = { context: [] as string[] };
  await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, output);
  assert.match(output.context[0] ?? '', /never touch prod\.db/);
  assert.doesNotMatch(output.context[0] ?? '', /Task: What did we do/);
});

/** A session behind a compaction of OpenCode, which goes on by itself. */
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

test('B11 every compaction of OpenCode is told what the user asked and ruled, and no text of OpenCode stands for it', async () => {
  const hooks = await bobbinPlugin()();
  const toldOf = async ({ messages }: Session): Promise<string> => {
    const output = { context: [] as string[] };
    await hooks['experimental.chat.messages.transform']({}, { messages: [...messages] });
    await hooks['experimental.session.compacting']({ sessionID: 'ses_1' }, output);
    return output.context[0] ?? '';
  };
  const resumed = await toldOf(compactedSession(0));
  assert.match(resumed, /ledger-0\.csv/);
  assert.doesNotMatch(resumed, /## Original Task/);
  const session = new Session();
  session.user('Migrate the ledger. Rule: never touch prod.db.');
  session.step('read', 'wrote /srv/ledger-1.csv');
  const task = /## Original Task\nMigrate the ledger\. Rule: never touch prod\.db\.\n/;
  const first = await toldOf(session);
  assert.match(first, task);
  assert.equal(await toldOf(session), first, 'a compaction that failed is told the same again');
  for (const round of [2, 3]) {
    const told = await toldOf(compactedSession(round));
    assert.match(told, task);
    assert.match(told, /Rule: never touch prod\.db\./);
    assert.match(told, new RegExp(`ledger-${round}\\.csv`));
  }
  const anew = new Session();
  anew.user('Build the exporter.');
  assert.doesNotMatch(await toldOf(anew), /ledger|prod\.db/, 'the user took all of it back');
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
