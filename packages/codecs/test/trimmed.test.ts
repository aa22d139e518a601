import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Codec, type Message } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { assistant, call, result, user } from '@bobbin/testing';
import { aiSdk, anthropic, openaiChat, openaiResponses } from '../src/index.ts';
import { aiSdkProblems } from '../src/validity/ai-sdk.ts';
import { anthropicProblems } from '../src/validity/anthropic.ts';
import { openaiChatProblems } from '../src/validity/openai-chat.ts';
import { openaiResponsesProblems } from '../src/validity/openai-responses.ts';

type Check = (messages: readonly object[]) => readonly string[];

const FORMATS: Readonly<Record<string, readonly [Codec<never>, Check]>> = {
  'openai-chat': [openaiChat as Codec<never>, openaiChatProblems],
  'openai-responses': [openaiResponses as Codec<never>, openaiResponsesProblems],
  'ai-sdk': [aiSdk as Codec<never>, aiSdkProblems],
  anthropic: [anthropic as Codec<never>, (messages) => anthropicProblems({ messages })],
};

/** Rounds with long arguments and long results, quotes, escapes and wide characters among them. */
function rounds(count: number): readonly Message[] {
  return Array.from({ length: count }, (_, step) => {
    const content = `say "${step}"\\n\t\u{1F600} ${'const value = 1;\n'.repeat(80)}`;
    const asked = call('write', { path: `/src/${step}.ts`, edits: [{ content }] }, `call_${step}`);
    return [
      assistant(`Step ${step}.`, asked),
      result(asked, `${step}: ${'wrote a line\n'.repeat(200)}`),
    ];
  }).flat();
}

for (const [name, [codec, problemsOf]] of Object.entries(FORMATS))
  test(`trimmed calls and results are valid in the format ${name}`, async () => {
    const bobbin = createBobbin({ codec, counter: chars4(), window: 200_000, thrift: 'frugal' });
    const wire = codec.encode([user('Write them all.'), ...rounds(40)]) as readonly object[];
    const { messages, plan } = await bobbin.fit(wire as never);
    assert.ok(plan.records.length > 60, `${plan.records.length} records`);
    assert.deepEqual(problemsOf(messages as readonly object[]), []);
    assert.ok(JSON.stringify(messages).length < JSON.stringify(wire).length / 3);
  });
