import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { Client, type Line } from './client.ts';
import { temporaryFolder } from './terminal.ts';
import { writeScript } from './workshop.ts';

/** Does N steps of a task, knows from its own last command where it is, and answers anything else. */
const STEPPER = `
  if (tools.length === 0) return { delayMs: 150, text: 'SUMMARY of the steps so far' };
  const asked = /^do (\\d+) steps/.exec(last.role === 'user' ? last.text : '');
  const at = /step (\\d+) of (\\d+)/.exec(lastCall?.args.command ?? '');
  const done = asked ? 0 : Number(at?.[1] ?? 0);
  const total = asked ? Number(asked[1]) : Number(at?.[2] ?? 0);
  if (last.role === 'user' && !asked && (at === null || done >= total)) return { text: 'Heard: ' + last.text.split('\\n')[0] };
  if (done >= total) return { text: 'All ' + total + ' steps are done.' };
  return { text: (last.role === 'user' && !asked ? 'Heard: ' + last.text + '. ' : '') + 'Step ' + (done + 1), calls: [{ tool: 'bash', args: { command: 'echo step ' + (done + 1) + ' of ' + total + '; seq -f "line %g of output" 1 120' } }] };
`;

function place(t: TestContext): { home: string; project: string; args: readonly string[] } {
  const home = temporaryFolder(t);
  const project = join(home, 'project');
  mkdirSync(project);
  const script = writeScript(home, STEPPER);
  return { home, project, args: ['--yes', '--model', `scripted/${script}@16000`] };
}

const types = (lines: readonly Line[]): readonly unknown[] => lines.map(({ type }) => type);

// RPC does the same in every run.
if (isSoak())
  test('B14 JSON: a client does a long task with compaction, queue, branch, undo, hand-over and resume by the protocol alone', async (t) => {
    const { home, project, args } = place(t);
    const client = new Client(['--mode', 'json', ...args], project, home);
    t.after(() => client.kill());
    const hello = await client.until(({ type }) => type === 'session');
    assert.deepEqual([hello['version'], hello['messages']], [1, 0]);

    // A long task; a message sent in the middle of a compaction is queued, sent, and answered.
    client.send('do 18 steps');
    await client.until(({ type }) => type === 'compaction-start');
    client.send('hurry up');
    await client.until(
      ({ type, texts }) => type === 'queued' && (texts as string[]).includes('hurry up'),
    );
    await client.until(({ type }) => type === 'end');
    const seen = types(client.lines);
    assert.ok(seen.indexOf('compaction-start') < seen.indexOf('compaction-end'));
    const said = client.lines
      .filter(({ type }) => type === 'assistant')
      .map(({ text }) => String(text));
    assert.ok(said.some((text) => text.startsWith('Heard: hurry up')));
    assert.equal(said.at(-1), 'All 18 steps are done.');
    assert.equal(client.lines.filter(({ type }) => type === 'tool-end').length, 18);

    // B15: /branch lists what was said before and after the compaction.
    await client.turn('thank you');
    const branches = await client.command('/branch');
    assert.deepEqual(
      (branches['data'] as { text: string }[]).map(({ text }) => text),
      ['do 18 steps', 'hurry up', 'thank you'],
    );
    const before = await client.command('/context');
    assert.ok((before['data'] as { summaries: number }).summaries > 0);
    const late = await client.command('/branch 3');
    assert.ok(
      ((await client.command('/context'))['data'] as { summaries: number }).summaries > 0,
      'a branch after a compaction keeps it',
    );
    await client.command(`/resume ${(late['data'] as { from: string }).from}`);
    await client.command('/branch 1');
    const early = (await client.command('/context'))['data'] as {
      summaries: number;
      messages: number;
    };
    assert.deepEqual(
      [early.summaries, early.messages],
      [0, 1],
      'a branch before a compaction undoes it',
    );

    // Back; undo a compaction, then a turn.
    await client.command(`/resume ${(late['data'] as { from: string }).from}`);
    await client.turn('/compact');
    const undone = await client.command('/undo');
    assert.equal((undone['data'] as { undone: string }).undone, 'compaction');
    const turn = await client.command('/undo turn');
    assert.equal((turn['data'] as { undone: string }).undone, 'turn');
    assert.equal(((await client.command('/branch'))['data'] as unknown[]).length, 2);

    // A hand-over starts a new session with what matters, and goes on.
    const from = client.lines.length;
    client.send('/handoff write the report on the steps');
    await client.until(({ type }) => type === 'end', from);
    const handed = client.lines.slice(from).find(({ type }) => type === 'user');
    assert.match(
      String(handed?.['text']),
      /^write the report on the steps\n\n\[Handed over from session /,
    );
    const session = client.lines.findLast(({ type }) => type === 'session')?.['session'];

    // kill -9 in the middle of a task; the next process goes on.
    client.send('do 8 steps');
    await client.until(
      ({ type, text }) => type === 'tool-end' && /step 2 of 8/.test(String(text)),
      from,
    );
    client.kill();
    const next = new Client(
      ['--mode', 'json', '--session', String(session), ...args],
      project,
      home,
    );
    t.after(() => next.kill());
    const again = await next.until(({ type }) => type === 'session');
    assert.equal(again['session'], session);
    assert.ok(Number(again['messages']) >= 6);
    const goneOn = await next.turn('go on');
    assert.equal(
      goneOn.findLast(({ type }) => type === 'assistant')?.['text'],
      'All 8 steps are done.',
    );
    assert.equal(await next.end(), 0);
  });

test('B12 B14 JSON: errors are {"type":"error","error":…}; an interruption ends the turn', async (t) => {
  const { home, project, args } = place(t);
  const client = new Client(['--mode', 'json', ...args], project, home);
  t.after(() => client.kill());
  const error = await client.command('/nothing');
  assert.deepEqual(error, { type: 'error', error: 'there is no command /nothing; see /help' });
  client.send('do 200 steps');
  await client.until(({ type }) => type === 'tool-end');
  client.send('{"type":"interrupt"}');
  const end = await client.until(({ type }) => type === 'end');
  assert.equal(end['reason'], 'interrupted');
  assert.equal(await client.end(), 130);
});

test('B14 RPC: the same by JSON-RPC, with permissions asked and answered', async (t) => {
  const { home, project, args } = place(t);
  const client = new Client(['--mode', 'rpc', ...args.slice(1)], project, home);
  t.after(() => client.kill());
  const hello = await client.call('initialize');
  assert.equal(hello['protocol'], 1);
  const names = (hello['commands'] as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names, [
    'compact',
    'autocompact',
    'branch',
    'fork',
    'handoff',
    'undo',
    'context',
    'pin',
    'unpin',
    'cost',
    'recall',
    'model',
    'resume',
    'export',
    'clear',
    'settings',
    'help',
  ]);

  assert.deepEqual(await client.call('say', { text: 'do 20 steps' }), { queued: false });
  const asked = await client.until(
    ({ method, params }) => method === 'event' && (params as Line)['type'] === 'permission',
  );
  const { id, tool, request } = asked['params'] as {
    id: string;
    tool: string;
    request: { kind: string };
  };
  assert.deepEqual([tool, request.kind], ['bash', 'run']);
  await assert.rejects(
    client.call('answer', { id, answer: 'perhaps' }),
    /-32602: answer must be yes, always, edits, alike or no/,
  );
  // Every command line is another one, so that each is asked for.
  let answered = id;
  await client.call('answer', { id, answer: 'yes' });
  const answering = (async () => {
    for (;;) {
      const next = await client
        .until(
          ({ method, params }) =>
            method === 'event' &&
            (params as Line)['type'] === 'permission' &&
            Number(String((params as Line)['id']).slice(11)) > Number(answered.slice(11)),
        )
        .catch(() => undefined);
      if (next === undefined) return;
      answered = String((next['params'] as Line)['id']);
      await client.call('answer', { id: answered, answer: 'yes' });
      if (answered === 'permission-20') return;
    }
  })();
  assert.deepEqual(await client.call('rest'), { reason: 'done' });
  await answering;
  const events = types(client.events);
  assert.ok(events.includes('compaction-end') && events.includes('end'));

  await assert.rejects(client.call('nothing'), /-32601: there is no method nothing/);
  await assert.rejects(
    client.call('command', { name: 'nothing' }),
    /-32000: there is no command \/nothing/,
  );
  const from = client.lines.length;
  client.send('{');
  const parse = await client.until(({ error }) => error !== undefined, from);
  assert.equal((parse['error'] as { code: number }).code, -32_700);

  const recall = await client.call('command', { name: 'recall', operands: 'step 2 of 20' });
  assert.ok((recall['data'] as unknown[]).length > 0);
  const cost = (await client.call('command', { name: 'cost' }))['data'] as {
    requests: number;
    summaries: { inputTokens: number };
  };
  assert.ok(cost.requests === 21 && cost.summaries.inputTokens > 0);
  const messages = (await client.call('messages')) as unknown as readonly {
    role: string;
    text: string;
    calls: readonly { callId: string; tool: string; args: string }[];
    results: readonly { callId: string; tool: string; outcome: string; text: string }[];
  }[];
  assert.equal(messages[0]?.text, 'do 20 steps');
  assert.equal(messages.length, 42);
  const [call] = messages[1]?.calls ?? [];
  const [result] = messages[2]?.results ?? [];
  assert.deepEqual([call?.tool, typeof JSON.parse(call?.args ?? '')], [result?.tool, 'object']);
  assert.deepEqual([result?.callId, result?.outcome], [call?.callId, 'success']);
  assert.ok((result?.text ?? '') !== '');
  const forked = await client.call('command', { name: 'fork' });
  const state = await client.call('state');
  assert.deepEqual(
    [state['session'], state['phase']],
    [(forked['data'] as Line)['session'], 'idle'],
  );
  const undo = await client.call('command', { name: 'undo' });
  assert.equal((undo['data'] as Line)['undone'], 'compaction');
  await client.call('shutdown');
  assert.equal(await client.end(), 0);
});

const isEvent =
  (type: string) =>
  ({ method, params }: Line): boolean =>
    method === 'event' && (params as Line)['type'] === type;

test('B14 B15 B23 RPC: a client queues, branches, undoes, hands over and resumes after kill -9 by the protocol alone', async (t) => {
  const { home, project, args } = place(t);
  const client = new Client(['--mode', 'rpc', ...args], project, home);
  t.after(() => client.kill());
  const command = async (name: string, operands: string = ''): Promise<Line> =>
    (await client.call('command', { name, operands }))['data'] as Line;
  const said = async (): Promise<readonly string[]> =>
    ((await client.call('messages')) as unknown as { role: string; text: string }[])
      .filter(({ role }) => role === 'user')
      .map(({ text }) => text);

  // A long task; what is said in the middle of a compaction is queued, sent, and answered.
  await client.call('say', { text: 'do 18 steps' });
  await client.until(isEvent('compaction-start'));
  assert.deepEqual(await client.call('say', { text: 'hurry up' }), { queued: true });
  assert.deepEqual(await client.call('rest'), { reason: 'done' });
  const answers = client.events.flatMap(({ type, text }) =>
    type === 'assistant' ? [String(text)] : [],
  );
  assert.ok(answers.some((text) => text.startsWith('Heard: hurry up')));
  assert.equal(answers.at(-1), 'All 18 steps are done.');
  assert.equal(client.events.filter(({ type }) => type === 'tool-end').length, 18);
  await client.call('say', { text: 'thank you' });
  await client.call('rest');

  // A branch after the compaction keeps it, one before it undoes it.
  const listed = (await command('branch')) as unknown as readonly { text: string }[];
  assert.deepEqual(
    listed.map(({ text }) => text),
    ['do 18 steps', 'hurry up', 'thank you'],
  );
  const late = await command('branch', '3');
  assert.ok(Number((await command('context'))['summaries']) > 0);
  await command('resume', String(late['from']));
  await command('branch', '1');
  const early = await command('context');
  assert.deepEqual([early['summaries'], early['messages']], [0, 1]);
  await command('resume', String(late['from']));

  // A compaction is undone, then a turn.
  await client.call('command', { name: 'compact' });
  await client.call('rest');
  assert.equal((await command('undo'))['undone'], 'compaction');
  assert.equal((await command('undo', 'turn'))['undone'], 'turn');
  assert.deepEqual(await said(), ['do 18 steps', 'hurry up']);

  // A hand-over starts a new session with what matters, and goes on.
  const { session, from } = await command('handoff', 'write the report on the steps');
  assert.deepEqual(await client.call('rest'), { reason: 'done' });
  const [handed] = await said();
  assert.match(
    String(handed),
    new RegExp(`^write the report .*\\n\\n\\[Handed over from session ${String(from)};`),
  );
  assert.equal((await client.call('state'))['session'], session);

  // kill -9 in the middle of a task; the next process goes on with it.
  const at = client.lines.length;
  await client.call('say', { text: 'do 8 steps' });
  await client.until(
    (line) =>
      isEvent('tool-end')(line) && /step 2 of 8/.test(String((line['params'] as Line)['text'])),
    at,
  );
  client.kill();
  const next = new Client(['--mode', 'rpc', '--session', String(session), ...args], project, home);
  t.after(() => next.kill());
  const resumed = await next.call('initialize');
  assert.equal(resumed['session'], session);
  assert.ok(Number(resumed['messages']) >= 6);
  await next.call('goOn');
  assert.deepEqual(await next.call('rest'), { reason: 'done' });
  const last = next.events.findLast(({ type }) => type === 'assistant');
  assert.equal(last?.['text'], 'All 8 steps are done.');
  await next.call('shutdown');
  assert.equal(await next.end(), 0);
});

test('B14 print: the answer goes to stdout, what happens on the way to stderr, and the exit code says how it went', async (t) => {
  const { home, project, args } = place(t);
  const run = async (...more: readonly string[]): Promise<number> => {
    const client = new Client(['-p', ...args, ...more], project, home);
    client.lines.length = 0;
    return client.end().catch(() => -1);
  };
  assert.equal(await run('/nothing'), 1);
  assert.equal(await run('--mode', 'xml'), 2);
  assert.equal(await run('--session', 'none', 'hello'), 2);
});
