import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI from 'openai';
import { createBobbin, textMessage, type CompactionEvent } from '@bobbin/core';
import {
  bpe,
  compactionSummarizer,
  modelSummarizer,
  type ModelSummarizerOptions,
} from '@bobbin/models';
import {
  providerServer,
  type DialectName,
  type ProviderServer,
  type ProviderStep,
} from '@bobbin/testing';

const ANSWER = {
  account: 'The tokenizer in src/parser.ts is being rewritten after E4711.',
  facts: [],
  decisions: [],
  items: [],
  outcomes: [],
  files: [],
  currentTask: 'Rewriting the tokenizer',
  currentPlan: [],
};
const GOOD: ProviderStep = {
  kind: 'answer',
  text: JSON.stringify(ANSWER),
  usage: { inputTokens: 900, outputTokens: 150, cacheReadTokens: 100 },
};

const HOSTS: readonly (readonly [
  string,
  DialectName,
  (server: ProviderServer) => ModelSummarizerOptions,
])[] = [
  [
    'OpenAI’s client',
    'openai-chat',
    ({ url }) => ({ client: new OpenAI({ apiKey: 'key', baseURL: url }), model: 'gpt-5-mini' }),
  ],
  [
    'Anthropic’s client',
    'anthropic',
    ({ origin }) => ({
      client: new Anthropic({ apiKey: 'key', baseURL: origin }),
      model: 'claude-haiku-4-5',
    }),
  ],
  [
    'a chat model of LangChain',
    'openai-chat',
    ({ url }) => ({
      model: new ChatOpenAI({
        model: 'gpt-4.1',
        apiKey: 'key',
        configuration: { baseURL: url },
        maxRetries: 0,
      }),
    }),
  ],
];

const SAID = [
  textMessage('user', 'Fix src/parser.ts. Never push to main.'),
  ...Array.from({ length: 12 }, (_, i) =>
    textMessage(
      i % 2 === 0 ? 'assistant' : 'user',
      `Error E4711 again in src/parser.ts, try ${i}. ${'It fails. '.repeat(40)}`,
    ),
  ),
  textMessage('user', 'And now?'),
];

async function compacted(
  options: ModelSummarizerOptions,
): Promise<{ readonly text: string; readonly events: readonly CompactionEvent[] }> {
  const summarizer = modelSummarizer({ ...options, sleep: () => Promise.resolve() });
  const bobbin = createBobbin({ summarizer, preset: 'claude-code' });
  await bobbin.fit(SAID);
  const { messages, events } = await bobbin.compact(SAID);
  return { text: JSON.stringify(messages), events };
}

for (const [name, dialect, make] of HOSTS) {
  test(`B11 ${name} writes a summary, which is verified, and its cost is reported`, async (t) => {
    const server = await providerServer(dialect, GOOD);
    t.after(() => server.close());
    const { text, events } = await compacted(make(server));
    server.expectDone();
    assert.match(text, /The tokenizer in src\/parser\.ts is being rewritten/);
    assert.match(text, /Never push to main/);
    const [bill] = events.flatMap((event) =>
      event.kind === 'summary-report' && event.report.kind === 'called' ? [event.report] : [],
    );
    assert.equal(bill?.attempts, 1);
    assert.ok((bill?.usage.outputTokens ?? 0) === 150, JSON.stringify(bill));
  });

  test(`B11 ${name}: an overloaded provider is asked again, a refusal ends in the extract`, async (t) => {
    const busy: ProviderStep = { kind: 'error', status: 529, message: 'overloaded' };
    const server = await providerServer(dialect, busy, GOOD);
    t.after(() => server.close());
    const { text } = await compacted(make(server));
    server.expectDone();
    assert.match(text, /is being rewritten/);

    const refusing = await providerServer(dialect, {
      kind: 'error',
      status: 401,
      message: 'no such key',
    });
    t.after(() => refusing.close());
    const failed = await compacted(make(refusing));
    refusing.expectDone();
    assert.match(failed.text, /Never push to main/);
    const warnings = failed.events.flatMap((event) =>
      event.kind === 'warning' ? [event.message] : [],
    );
    assert.match(warnings.join('\n'), /no such key.*the extract is used instead/s);
  });
}

test('H5 Anthropic’s own compaction is a summarizer: rules go into its instructions, and what it lacks is added', async (t) => {
  const summary = 'The tokenizer in src/parser.ts is being rewritten after E4711.';
  const server = await providerServer('anthropic', { kind: 'compact', summary, text: '' });
  t.after(() => server.close());
  const client = new Anthropic({ apiKey: 'key', baseURL: server.origin, maxRetries: 0 });
  const summarizer = compactionSummarizer({ client, model: 'claude-opus-5' });
  const bobbin = createBobbin({ summarizer, preset: 'claude-code' });
  await bobbin.fit(SAID);
  const { messages, events } = await bobbin.compact(SAID);
  server.expectDone();
  const [request] = server.requests;
  assert.ok(request);
  const { instructions, type } = request.body['compaction'] as Record<string, string>;
  assert.equal(type, 'summarize');
  assert.match(instructions ?? '', /Repeat them word for word:\n- Never push to main/);
  assert.equal(request.headers['anthropic-beta'], 'compact-2026-09-04');
  const text = JSON.stringify(messages);
  assert.match(text, /is being rewritten after E4711/);
  assert.match(text, /Never push to main/, 'the rule that the provider left out is added');
  const bill = events.find(
    (event) => event.kind === 'summary-report' && event.report.kind === 'called',
  );
  assert.ok(JSON.stringify(bill).includes('"inputTokens":9000'), JSON.stringify(bill));
  assert.throws(
    () => compactionSummarizer({ client: new OpenAI({ apiKey: 'key' }) as never, model: 'gpt-5' }),
    { name: 'TypeError', message: 'client must be a client of Anthropic, such as new Anthropic()' },
  );
});

test('modelSummarizer and bpe say what is missing', async () => {
  const wrong: readonly (readonly [object | undefined, RegExp])[] = [
    [
      {},
      /^model: modelSummarizer needs a model, as in modelSummarizer\(\{ model: openai\('gpt-5-mini'\) \}\)/,
    ],
    [undefined, /^model: modelSummarizer needs a model/],
    [{ model: 5 }, /^model must be a model, as in/],
    [{ model: new OpenAI({ apiKey: 'key' }) }, /^model is a client: pass it as client/],
    [{ client: new OpenAI({ apiKey: 'key' }) }, /^model: beside a client it is the model's id/],
    [{ client: {}, model: 'gpt-5' }, /^client must be a client of OpenAI or Anthropic/],
  ];
  for (const [options, message] of wrong)
    assert.throws(() => modelSummarizer(options as never), { name: 'TypeError', message });
  await assert.rejects(bpe('p50k' as 'o200k'), {
    name: 'RangeError',
    message:
      'there is no encoding "p50k"; choose one of o200k, cl100k, or let counterFor(model) choose',
  });
});

/** A host whose only work is a summary by a model that never answers and does not heed its signal. */
const IDLE = `
import { modelSummarizer } from '@bobbin/models';
import { textMessage } from '@bobbin/core';
const model = {
  specificationVersion: 'v3', provider: 'p', modelId: 'm', supportedUrls: {},
  doGenerate: () => new Promise(() => undefined),
};
const message = textMessage('user', 'Hi');
const node = { id: 'a', parent: null, index: 0, turn: 1, message };
const request = { nodes: [node], previous: null, task: null, round: 1, overlap: [], maxTokens: 500 };
await modelSummarizer({ model, timeoutMs: 200 })
  .summarize(request)
  .catch((error) => console.log(error.message));
`;

test('a summary that hangs in an idle process ends at its deadline', () => {
  const args = ['--conditions=@bobbin/source', '--input-type=module', '--eval', IDLE];
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [0, 'no answer in time\n']);
});
