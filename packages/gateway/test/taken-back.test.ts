import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { bareUpstream, runningGateway, type RunningGateway } from './running-gateway.ts';

const LINE = 'The dredger works at the north mole until the tide turns. ';
const STEPS = 40;
const CHARS_A_TOKEN = 4;

const tokens = (messages: readonly string[]): number =>
  Math.ceil(messages.join('').length / CHARS_A_TOKEN);

/** An upstream that caches prompts, as providers do, and reports what it has read from its cache. */
async function cachingUpstream(
  t: TestContext,
): Promise<{ readonly url: string; readonly bill: () => number }> {
  let bill = 0;
  let cached: readonly string[] = [];
  const { url } = await bareUpstream(t, ({ text }, outgoing) => {
    const sent = (JSON.parse(text) as { messages: object[] }).messages.map((m) =>
      JSON.stringify(m),
    );
    const same = sent.findIndex((message, i) => message !== cached[i]);
    const read = tokens(sent.slice(0, same < 0 ? sent.length : same));
    const all = tokens(sent);
    cached = sent;
    bill += all - read + read / 10;
    outgoing.setHeader('content-type', 'application/json');
    const usage = { prompt_tokens: all, prompt_tokens_details: { cached_tokens: read } };
    outgoing.end(JSON.stringify({ choices: [], usage: { ...usage, completion_tokens: 9 } }));
  });
  return { url, bill: () => Math.round(bill) };
}

interface Answered {
  readonly action: string | null;
  readonly thread: string | null;
}

async function asked(
  url: string,
  messages: readonly object[],
  headers: Record<string, string>,
): Promise<Answered> {
  const body = JSON.stringify({ model: 'gpt-5', messages });
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  await response.text();
  const header = (name: string): string | null => response.headers.get(`x-bobbin-${name}`);
  return { action: header('action'), thread: header('thread') };
}

/** Works in many steps. `edit` changes only what a request ends with, and not what later requests repeat. */
async function work(
  { url }: Pick<RunningGateway, 'url'>,
  edit: (messages: readonly object[], step: number) => readonly object[],
  headers: Record<string, string> = {},
): Promise<readonly Answered[]> {
  const history: object[] = [{ role: 'user', content: 'Read the log books.' }];
  const answers: Answered[] = [];
  for (let step = 0; step < STEPS; step++) {
    answers.push(await asked(url, edit(history, step), headers));
    const call = { id: `c${step}`, type: 'function' };
    const read = { name: 'read', arguments: `{"n":${step}}` };
    history.push(
      { role: 'assistant', content: null, tool_calls: [{ ...call, function: read }] },
      { role: 'tool', tool_call_id: `c${step}`, content: `Book ${step}\n${LINE.repeat(60)}` },
    );
  }
  return answers;
}

const withReminder = (messages: readonly object[], step: number): readonly object[] => [
  ...messages,
  { role: 'user', content: `<reminder>Step ${step} of ${STEPS}</reminder>` },
];

const withClock = (messages: readonly object[], step: number): readonly object[] =>
  messages.map((message, i) =>
    i < messages.length - 1 || !('content' in message)
      ? message
      : { ...message, content: `${String(message.content)}\n(It is ${step} o’clock.)` },
  );

const NAMED = { 'x-bobbin-thread': 'log-books' };

for (const [what, edit, headers] of [
  ['a message at the end', withReminder, {}],
  ['a message at the end, in a named thread', withReminder, NAMED],
  ['words in the last message', withClock, {}],
  ['words in the last message, in a named thread', withClock, NAMED],
] as const)
  test(`a client that takes back ${what} after each request stays in one thread, and costs little more than without a gateway`, async (t) => {
    const direct = await cachingUpstream(t);
    await work(direct, edit);
    const upstream = await cachingUpstream(t);
    const gateway = await runningGateway(t, { upstreams: { openai: upstream.url } });
    const answers = await work(gateway, edit, headers);
    // Who has not been answered yet may be anybody.
    assert.equal(new Set(answers.slice(2).map(({ thread }) => thread)).size, 1);
    const compacted = answers.filter(({ action }) => action === 'compacted').length;
    assert.ok(compacted <= 2, `${compacted} compactions`);
    assert.ok(upstream.bill() < direct.bill() * 1.05, `${upstream.bill()} for ${direct.bill()}`);
  });

test('what was compacted stays compacted for a client that takes back the end of each request', async (t) => {
  const policies = [{ model: 'gpt-5', windowTokens: 12_000 }];
  const compactions = async (edit: typeof withReminder): Promise<number> => {
    const upstream = await cachingUpstream(t);
    const gateway = await runningGateway(t, { upstreams: { openai: upstream.url }, policies });
    const answers = await work(gateway, edit, NAMED);
    return answers.filter(({ action }) => action === 'compacted').length;
  };
  const plain = await compactions((messages) => messages);
  const edited = await compactions(withReminder);
  assert.ok(plain > 2 && edited <= plain + 1, `${edited} compactions, ${plain} without reminders`);
});
