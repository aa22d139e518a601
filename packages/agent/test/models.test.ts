import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { withServerWindow } from '../src/model/model-server.ts';
import { chooseModel, defaultModel } from '../src/model/models.ts';
import { loadSettings } from '../src/settings.ts';
import { LLAMA_CPP, LM_STUDIO, localServer, OLLAMA, VLLM, type Answers } from './local-server.ts';
import { temporaryFolder } from './terminal.ts';
import { ofType, workshop } from './workshop.ts';

/** The window of a model of a server, and what is said of it. */
async function windowAt(
  t: TestContext,
  answers: Answers,
  name: string,
): Promise<readonly [number, string | undefined]> {
  const folder = temporaryFolder(t);
  const folders = { project: folder, config: folder, data: folder };
  const providers = { own: { baseURL: `${await localServer(t, answers)}/v1` } };
  const settings = { ...loadSettings(folders, {}), providers };
  const { model, notice } = await withServerWindow(chooseModel(name, settings, {}, folder));
  return [model.windowTokens, notice];
}

test('A4 a server is asked for its window, each in its own way; what a person says wins', async (t) => {
  for (const [answers, name, tokens] of [
    [OLLAMA, 'own/gemma4', 16_384],
    [OLLAMA, 'own/tiny', 8_192],
    [LLAMA_CPP, 'own/local', 12_288],
    [LM_STUDIO, 'own/a', 24_576],
    [VLLM, 'own/served', 40_960],
    [OLLAMA, 'own/gemma4@9000', 9_000],
  ] as const)
    assert.deepEqual([name, await windowAt(t, answers, name)], [name, [tokens, undefined]]);
});

test('A4 where a server does not say it, what is assumed is said', async (t) => {
  for (const [answers, name, tokens, expected] of [
    [OLLAMA, 'own/qwen3:8b', 131_072, /^own\/qwen3:8b: a window of 131k tokens is assumed; that/],
    [LM_STUDIO, 'own/b', 32_768, /a window of 32.8k tokens is assumed; that is the most/],
    [{}, 'own/x', 128_000, /128k tokens is assumed; its server does not say.* own\/x@N sets it\./],
  ] as const) {
    const [window, notice] = await windowAt(t, answers, name);
    assert.equal(window, tokens);
    assert.match(notice ?? '', expected);
  }
  assert.deepEqual(await windowAt(t, {}, 'own/devstral-2'), [262_144, undefined]);
});

test('/model lists servers that answer, known models and what they need; the choice is kept', async (t) => {
  const script = `return { text: 'ok' };`;
  const baseURL = `${await localServer(t, OLLAMA)}/v1`;
  const settings = {
    providers: { ollama: { baseURL }, closed: { baseURL: 'http://127.0.0.1:9' } },
  };
  const env = { ANTHROPIC_API_KEY: 'KEY' };
  const shop = await workshop(t, { script, settings, env, model: 'scripted/echo' });
  await shop.line('/model');
  const [listed] = ofType(shop.events, 'command');
  const { models } = (listed?.data ?? { models: [] }) as {
    models: readonly { name: string; note: string }[];
  };
  const { host } = new URL(baseURL);
  assert.deepEqual(
    models.map(({ name, note }) => `${name} ${note}`.trimEnd()),
    [
      'scripted/echo in use, 128k tokens',
      'anthropic/claude-sonnet-5-5',
      'anthropic/claude-opus-5-5',
      'anthropic/claude-haiku-5',
      `ollama/gemma4:latest on ${host}`,
      `ollama/qwen3:8b on ${host}`,
      `ollama/tiny on ${host}`,
      'openai/gpt-6.1 no key · set OPENAI_API_KEY',
      'openai/gpt-5.4-mini no key · set OPENAI_API_KEY',
      'scripted/demo a script, needs no key',
    ],
  );
  assert.equal(await shop.line('/model ollama/tiny'), 'done');
  assert.deepEqual(
    [shop.agent.session.model.name, shop.agent.session.windowTokens],
    ['ollama/tiny', 8_192],
  );
  assert.equal(
    ofType(shop.events, 'notice').at(-1)?.text,
    'ollama/tiny, a window of 8.2k tokens; the next start begins with it too.',
  );
  assert.equal(defaultModel(loadSettings(shop.folders, {}), env), 'ollama/tiny');
  const kept: unknown = JSON.parse(
    readFileSync(join(shop.folders.config, 'settings.json'), 'utf8'),
  );
  assert.deepEqual(kept, { ...settings, model: 'ollama/tiny' });
  await shop.line('/model openai/gpt-6.1');
  assert.equal(shop.agent.session.model.name, 'ollama/tiny');
  assert.match(
    ofType(shop.events, 'error').at(-1)?.error ?? '',
    /needs a key in .* OPENAI_API_KEY/,
  );
});

test('A4 a model that its server loads when it is first asked gets the window that it was loaded with', async (t) => {
  let isLoaded = false;
  const running = { models: [{ name: 'qwen3:8b', model: 'qwen3:8b', context_length: 4_096 }] };
  const usage = { prompt_tokens: 900, completion_tokens: 3 };
  const url = await localServer(t, {
    ...OLLAMA,
    '/api/ps': () => (isLoaded ? running : { models: [] }),
    '/v1/chat/completions'() {
      isLoaded = true;
      return { choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }], usage };
    },
  });
  const settings = { providers: { ollama: { baseURL: `${url}/v1` } } };
  const shop = await workshop(t, { script: '', settings, model: 'ollama/qwen3:8b' });
  assert.equal(shop.agent.session.windowTokens, 131_072);
  assert.equal(await shop.line('hello'), 'done', JSON.stringify(ofType(shop.events, 'error')));
  assert.equal(shop.agent.session.windowTokens, 4_096);
  assert.equal(
    ofType(shop.events, 'notice').at(-1)?.text,
    'ollama/qwen3:8b runs with a window of 4.1k tokens.',
  );
});
