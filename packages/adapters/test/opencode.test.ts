import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bobbinPlugin, type OpenCodeMessage, type OpenCodePart } from '@bobbin/adapters/opencode';
import type { CompactionEvent } from '@bobbin/core';

/** A session as OpenCode sends it: everything, each time. */
class Session {
  readonly messages: OpenCodeMessage[] = [];

  user(text: string): void {
    this.#add('user', [said(text)]);
  }

  /** One step of the assistant, with a tool whose part holds both the call and the output. */
  step(tool: string, output: string): void {
    const time = { start: 0, end: 1 };
    const state = { status: 'completed', input: {}, output, title: '', metadata: {}, time };
    const callID = `call_${this.messages.length}`;
    const part = { type: 'tool', callID, tool, state };
    const text = said(`I use ${tool} (${this.messages.length}).`);
    this.#add('assistant', [{ type: 'step-start' }, text, part, { type: 'step-finish' }]);
  }

  #add(role: string, parts: OpenCodePart[]): void {
    const id = `msg_${this.messages.length}`;
    this.messages.push({ info: { id, sessionID: 'ses_1', role }, parts });
  }
}

function said(text: string): OpenCodePart {
  const part = { type: 'text', text };
  return part;
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
