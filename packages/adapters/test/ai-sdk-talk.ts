import assert from 'node:assert/strict';
import type { MockLanguageModelV4 } from 'ai/test';
import type { AiSdkBobbin, FinishedStep } from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import { textOf, type Message, type MessageId, type Store } from '@bobbin/core';

export const user = (content: string): AiSdkMessage => ({ role: 'user', content });
export const said = (content: string): AiSdkMessage => ({ role: 'assistant', content });
export const LONG = 'lorem ipsum dolor sit '.repeat(60);

/** What each thread of a store holds: every one is a single path. */
export async function threadsOf(store: Store): Promise<readonly (readonly Message[])[]> {
  const threads = await store.threads('default', 100);
  return Promise.all(
    threads.map(async ({ thread }) => {
      const key = { tenant: 'default', thread };
      const heads = await store.heads(key);
      assert.equal(heads.length, 1, 'a thread that no host named is one path');
      return (await store.path(key, heads[0] as MessageId)).map(({ message }) => message);
    }),
  );
}

export async function textsOf(store: Store): Promise<readonly string[]> {
  const threads = await threadsOf(store);
  return threads.map((messages) => messages.map(textOf).join(' | ')).toSorted();
}

/** A long talk of somebody, whose every message names them. */
export function talkOf(who: string, beginning: string = `I am ${who}`): AiSdkMessage[] {
  const rounds = Array.from({ length: 25 }, (_, i) => [
    said(`${who} answer ${i} ${LONG}`),
    user(`${who} question ${i} ${LONG}`),
  ]);
  return [user(beginning), ...rounds.flat()];
}

export const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
export const STOP = { unified: 'stop', raw: 'stop' } as const;
export const CALL = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'remove',
  input: '{}',
} as const;
export const CALLS = { unified: 'tool-calls', raw: 'tool-calls' } as const;
export const TOO_LONG = Object.assign(new Error('prompt is too long: 9000 tokens > 8000 maximum'), {
  status: 400,
});

export type Generate = ConstructorParameters<typeof MockLanguageModelV4>[0];
/** What a model of either major answers. */
export interface Answer {
  content: ({ type: 'text'; text: string } | typeof CALL)[];
  finishReason: typeof STOP | typeof CALLS;
  usage: typeof USAGE;
  warnings: [];
}
export const answer = (text: string): Answer => ({
  content: [{ type: 'text', text }],
  finishReason: STOP,
  usage: USAGE,
  warnings: [],
});

/** A step as the SDK takes it: listed with its run, then reported. */
export async function step(
  bobbin: AiSdkBobbin,
  messages: AiSdkMessage[],
  ...answers: AiSdkMessage[]
): Promise<void> {
  const steps: FinishedStep[] = [];
  await bobbin.prepareStep({ messages, steps });
  const finished = { usage: {}, response: { messages: answers } };
  steps.push(finished);
  await bobbin.onStepFinish(finished);
}
