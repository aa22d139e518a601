import { test } from 'node:test';
import { finishesOnAiSdk } from './ai-sdk-task.ts';
import { finishesOnLangchain } from './langchain-task.ts';
import { finishesOnOpenAIAgents } from './openai-agents-task.ts';
import { LONG, nameOf } from './task.ts';

for (const dialect of ['openai-chat', 'openai-responses', 'anthropic'] as const) {
  for (const major of [6, 7] as const) {
    test(`C23 an agent on AI SDK ${major} finishes ${nameOf(LONG)}, ${dialect}`, (t) =>
      finishesOnAiSdk(t, major, dialect, LONG));
  }
}

for (const dialect of ['openai-chat', 'openai-responses'] as const) {
  test(`C23 an agent on LangChain finishes ${nameOf(LONG)}, ${dialect}`, (t) =>
    finishesOnLangchain(t, dialect, LONG));
  test(`C23 an agent on OpenAI Agents finishes ${nameOf(LONG)}, ${dialect}`, (t) =>
    finishesOnOpenAIAgents(t, dialect, LONG));
}
