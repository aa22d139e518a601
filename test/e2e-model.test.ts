import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { repeatsItself } from '../scripts/e2e-model/repetition.ts';
import { serveModel, type ServedModel } from '../scripts/e2e-model/serve.ts';

type Generate = ServedModel['generate'];

const countTokens = (text: string): number => text.split(' ').length;

/** Serves a model that counts words, asks it, and lets the test look at what came back. */
async function served<T>(generate: Generate, ask: (url: string) => Promise<T>): Promise<T> {
  const model = { name: 'local', contextTokens: 100, countTokens, generate };
  const server = await serveModel(model, 5);
  try {
    return await ask(`${server.url}/chat/completions`);
  } finally {
    server.close();
  }
}

const asking = (content = 'Say it.', signal?: AbortSignal): RequestInit => ({
  method: 'POST',
  headers: { connection: 'close' },
  body: JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 20 }),
  ...(signal === undefined ? {} : { signal }),
});

for (const [isCutOff, finish] of [
  [true, 'length'],
  [false, 'stop'],
] as const)
  test(`the served model ends with ${finish} where its answer ${isCutOff ? 'was cut off' : 'ended by itself'}`, async () => {
    const body = await served(
      () => Promise.resolve({ text: 'The lexer is', isCutOff }),
      async (url) => (await fetch(url, asking())).json(),
    );
    assert.deepEqual(body, {
      id: 'chatcmpl-local',
      object: 'chat.completion',
      created: 0,
      model: 'local',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'The lexer is' },
          finish_reason: finish,
        },
      ],
      usage: { prompt_tokens: 34, completion_tokens: 3, total_tokens: 37 },
    });
  });

const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

test('a served model that breaks down breaks off its answer, keeps nothing running and answers the next', async () => {
  let asked = 0;
  const generate: Generate = async () => {
    asked += 1;
    await setTimeout(20);
    if (asked === 1) throw new Error('out of memory');
    return { text: 'Again.', isCutOff: false };
  };
  const before = timers();
  const next = await served(generate, async (url) => {
    await assert.rejects(async () => (await fetch(url, asking())).text());
    return (await fetch(url, asking())).text();
  });
  assert.match(next, /^ +\{.*"content":"Again\."/);
  assert.equal(timers(), before);
});

test('a client that goes away ends the work for it', async () => {
  const controller = new AbortController();
  const stopped = Promise.withResolvers<boolean>();
  const generate: Generate = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        stopped.resolve(true);
        reject(new Error('gone'));
      });
      controller.abort();
    });
  await served(generate, async (url) => {
    await assert.rejects(async () =>
      (await fetch(url, asking('Say it.', controller.signal))).text(),
    );
    assert.equal(await stopped.promise, true);
  });
});

test('a request larger than the window of the served model is refused as providers refuse it', async () => {
  const [status, body] = await served(
    () => Promise.reject(new Error('asked')),
    async (url) => {
      const response = await fetch(url, asking('w '.repeat(60)));
      return [response.status, await response.text()] as const;
    },
  );
  assert.equal(status, 400);
  assert.match(body, /maximum context length is 100 tokens, asked for 113\./);
});

test('the served model is at its end when it says the same thing for the third time', () => {
  const said = 'The lexer is done.\nNext: the parser.\n';
  assert.equal(repeatsItself(`${said}Next: the parser.\n`), false);
  assert.equal(
    repeatsItself(`${said}Next: the parser.\nNext: the parser.`),
    false,
    'not ended yet',
  );
  assert.equal(repeatsItself(`${said}Next: the parser.\nNext: the parser.\n`), true);
  assert.equal(repeatsItself('It runs on. It runs on. It runs on. '), true);
  assert.equal(repeatsItself('- a\n- a\n- a\n- a\n'), false, 'too short to tell');
});
