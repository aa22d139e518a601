import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createBobbin,
  textMessage,
  type Summarizer,
  type Summary,
  type SummaryRequest,
} from '@bobbin/core';
import { currentSummary, EMPTY_SUMMARY, trustedSummarizer } from '@bobbin/core/internal';
import { assistant, thread, user } from '@bobbin/testing';

/** Put together here, so that no scanner takes this file for a leak. */
const KEY = ['sk-', 'ant-api03-', 'Zx9Qw3Er7Ty1Ui5Op2As8Df4Gh6Jk0'].join('');
const REQUEST: SummaryRequest = {
  nodes: thread(user(`Never use ${KEY} in tests.`), assistant(`Noted: ${KEY}`)).path(),
  previous: {
    ...EMPTY_SUMMARY,
    facts: [{ kind: 'constraint', text: `Always rotate ${KEY}`, by: 'user', turn: 1 }],
  },
  task: `Deploy with ${KEY}`,
  round: 2,
  overlap: [],
  maxTokens: 2_000,
};
const answering = (summary: Partial<Summary>): Summarizer => ({
  id: 'answering',
  summarize: () => Promise.resolve({ ...EMPTY_SUMMARY, ...summary }),
});

test('secrets of the messages, of a model and of an imported summary end at the verification', async () => {
  const summary = await trustedSummarizer(answering({ prose: `Deployed with ${KEY}.` })).summarize(
    REQUEST,
  );
  assert.ok(!JSON.stringify(summary).includes(KEY));
  assert.equal(summary.prose, 'Deployed with [redacted].');
  assert.equal(summary.task, 'Deploy with [redacted]');
  assert.deepEqual(
    summary.facts.map(({ text }) => text),
    ['Always rotate [redacted]', 'Never use [redacted] in tests.'],
  );
});

test('D9 what must not be stored is not completed either: it is rejected with the reason', async () => {
  await assert.rejects(trustedSummarizer(answering({})).summarize(REQUEST), /blank/);
  const refused = trustedSummarizer(answering({ prose: 'Error: 500' })).summarize(REQUEST);
  await assert.rejects(refused, /an error or a refusal/);
});

test("the host's own redaction holds for its summarizer, for the extract, and when the extract is the fallback", async () => {
  const failing: Summarizer = { id: 'failing', summarize: () => Promise.reject(new Error('down')) };
  for (const summarizer of [undefined, failing, answering({ prose: 'For ACME.' })]) {
    const bobbin = createBobbin({
      window: 6_000,
      redact: (text) => text.replaceAll('ACME', '[customer]'),
      ...(summarizer === undefined ? {} : { summarizer }),
    });
    const handle = await bobbin.thread('redacted');
    const talk = Array.from({ length: 12 }, (_, i) => [
      textMessage('user', `Question ${i} of ACME: ${'words '.repeat(40)}`),
      textMessage('assistant', `Answer ${i} for ACME: ${'words '.repeat(40)}`),
    ]);
    await handle.append(...talk.flat());
    const { plan } = await handle.compact();
    const summary = currentSummary(plan);
    assert.ok(summary !== undefined);
    assert.ok(JSON.stringify(summary.summary).includes('[customer]'));
    assert.ok(!JSON.stringify(summary.summary).includes('ACME'));
    assert.ok(!summary.text.includes('ACME'));
  }
});

test('a pin is evidence: a summary neither reports as allowed what it forbids nor shows its secrets', async () => {
  const path = thread(user(`Never delete the data under ${KEY}.`), user('Go on.')).path();
  const contradictions: unknown[] = [];
  const prose = `The user allows to delete the data under ${KEY}. The work goes on.`;
  const summary = await trustedSummarizer(answering({ prose })).summarize({
    ...REQUEST,
    previous: null,
    task: null,
    nodes: path.slice(1),
    kept: path.slice(0, 1).map((node) => ({ node, shown: node.message })),
    report: (summarized) => {
      if (summarized.kind === 'corrected') contradictions.push(...summarized.corrections);
    },
  });
  assert.equal(summary.prose, 'The work goes on.');
  assert.deepEqual(contradictions, [
    {
      kind: 'removed',
      claim: 'The user allows to delete the data under [redacted].',
      because: 'the user said: Never delete the data under [redacted].',
    },
  ]);
});

/** An account of a message, as verification leaves it. */
async function cited(said: string): Promise<string | null> {
  const nodes = thread(user('Work.'), assistant(said)).path();
  const prose = 'It encrypts 15 tables of the customers every night.';
  const request = { ...REQUEST, nodes, previous: null };
  return (await trustedSummarizer(answering({ prose })).summarize(request)).prose;
}

test('of a message with a secret no words are cited, not even a part of the secret', async () => {
  assert.equal(
    await cited(`The key ${KEY} encrypts 14 tables of the customers every night.`),
    'It encrypts 15 tables of the customers every night. [m2 says otherwise]',
  );
  assert.equal(
    await cited('password:\nTr0ub4dor&3xyz encrypts 14 tables of the customers every night.'),
    'It encrypts 15 tables of the customers every night. [m2 says otherwise]',
  );
  assert.equal(
    await cited('The key encrypts 14 tables of the customers every night.'),
    'It encrypts 15 tables of the customers every night. [m2: “The key encrypts 14 tables of the customers”]',
  );
});

test('B1 what the user asks of a summary is said by the user', async () => {
  const prose = 'The user asks for the ports of cluster blue-7.';
  const summarized = (instructions?: string): Promise<Summary> =>
    trustedSummarizer(answering({ prose, currentTask: 'Go on.' })).summarize({
      ...REQUEST,
      previous: null,
      ...(instructions === undefined ? {} : { instructions }),
    });
  assert.equal((await summarized('Tell the ports of cluster blue-7.')).prose, prose);
  assert.equal((await summarized()).prose, `${prose} [not in the messages: blue-7]`);
});
