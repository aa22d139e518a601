import * as ai7 from 'ai';
import { aiSdkBobbin, type AiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import type { AiSdkMessage } from '@bobbin/codecs';
import type { CompactionEvent, ThreadId } from '@bobbin/core';
import { INSTRUCTIONS, modelOf, tools7 } from './ai-sdk-task.ts';
import type { Task } from './task.ts';
import type { Dialect } from './task-provider.ts';

export const KEY = { tenant: 'default', thread: 'ledger' as ThreadId };

/** An agent that streams, asks for two steps at once, and has no name for its conversation. */
export type StreamingAgent = (
  task: Task,
  url: string,
  dialect: Dialect,
  bobbin: AiSdkBobbin,
) => PromiseLike<string>;

export const streaming7: StreamingAgent = (task, url, dialect, bobbin) => {
  const { prepareStep, onStepFinish, middleware } = bobbin;
  return ai7.streamText({
    model: ai7.wrapLanguageModel({ model: modelOf(dialect, url), middleware }),
    instructions: INSTRUCTIONS,
    prompt: task.assignment,
    tools: { ...tools7(task), ...bobbin.tools },
    stopWhen: ai7.isStepCount(task.steps),
    prepareStep,
    onStepFinish,
    maxOutputTokens: 500,
    maxRetries: 0,
  }).text;
};

/** The host believes in a window that the provider does not have. */
export function misled(onEvent: (event: CompactionEvent) => void): AiSdkBobbin {
  return aiSdkBobbin({ window: 64_000, onEvent });
}

export const user = (content: string): AiSdkMessage => ({ role: 'user', content });
export const said = (content: string): AiSdkMessage => ({ role: 'assistant', content });
