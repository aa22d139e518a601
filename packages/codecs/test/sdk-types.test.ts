// Compiles against the current and the previous major of the providers' clients, without a cast: what `fit` returns,
// `tools` and `answer` are what the clients take.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Anthropic from '@anthropic-ai/sdk';
import type Anthropic0 from 'anthropic0';
import type OpenAI from 'openai';
import type OpenAI7 from 'openai7';
import { createBobbin } from '@bobbin/core';
import { anthropic, openaiChat, openaiResponses } from '@bobbin/codecs';

type ChatRequest =
  | OpenAI.ChatCompletionCreateParamsNonStreaming
  | OpenAI7.ChatCompletionCreateParamsNonStreaming;

const HI = { role: 'user', content: 'Hi' } as const;

test('openai 6: chat', async () => {
  const bobbin = createBobbin({ codec: openaiChat });
  const history: OpenAI.ChatCompletionMessageParam[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model: 'gpt-5',
    messages,
    tools: bobbin.tools,
  };
  const answered = async (answer: OpenAI.ChatCompletionMessage): Promise<void> => {
    history.push(answer);
    for (const call of answer.tool_calls ?? []) {
      const result = await bobbin.answer(call, history);
      if (result !== undefined) history.push(result);
    }
  };
  await answered({ role: 'assistant', content: 'Hello', refusal: null });
  assert.equal((request satisfies ChatRequest).messages.length, 1);
});

test('openai 7: chat', async () => {
  const bobbin = createBobbin({ codec: openaiChat });
  const history: OpenAI7.ChatCompletionMessageParam[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: OpenAI7.ChatCompletionCreateParamsNonStreaming = {
    model: 'gpt-5',
    messages,
    tools: bobbin.tools,
  };
  const answered = async (answer: OpenAI7.ChatCompletionMessage): Promise<void> => {
    history.push(answer);
    for (const call of answer.tool_calls ?? []) {
      const result = await bobbin.answer(call, history);
      if (result !== undefined) history.push(result);
    }
  };
  await answered({ role: 'assistant', content: 'Hello', refusal: null });
  assert.equal(request.messages.length, 1);
});

test('openai 6: responses', async () => {
  const bobbin = createBobbin({ codec: openaiResponses });
  const history: OpenAI.Responses.ResponseInputItem[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: OpenAI.Responses.ResponseCreateParamsNonStreaming = {
    model: 'gpt-5',
    input: messages,
    tools: bobbin.tools,
  };
  const answered = async ({ output }: OpenAI.Responses.Response): Promise<void> => {
    for (const item of output) {
      const result = await bobbin.answer(item, history);
      if (result !== undefined) history.push(result);
    }
  };
  assert.ok(request.input && answered);
});

test('openai 7: responses', async () => {
  const bobbin = createBobbin({ codec: openaiResponses });
  const history: OpenAI7.Responses.ResponseInputItem[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: OpenAI7.Responses.ResponseCreateParamsNonStreaming = {
    model: 'gpt-5',
    input: messages,
    tools: bobbin.tools,
  };
  const answered = async ({ output }: OpenAI7.Responses.Response): Promise<void> => {
    for (const item of output) {
      const result = await bobbin.answer(item, history);
      if (result !== undefined) history.push(result);
    }
  };
  assert.ok(request.input && answered);
});

test('@anthropic-ai/sdk 1', async () => {
  const bobbin = createBobbin({ codec: anthropic });
  const history: Anthropic.MessageParam[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    model: 'claude-opus-5',
    max_tokens: 1_000,
    messages,
    tools: bobbin.tools,
  };
  const answered = async ({ role, content }: Anthropic.Message): Promise<void> => {
    history.push({ role, content });
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const block of content) {
      const result = await bobbin.answer(block, history);
      if (result !== undefined) results.push(result);
    }
    history.push({ role: 'user', content: results });
  };
  assert.ok(request.messages && answered);
});

test('@anthropic-ai/sdk 0', async () => {
  const bobbin = createBobbin({ codec: anthropic });
  const history: Anthropic0.MessageParam[] = [HI];
  const { messages } = await bobbin.fit(history);
  const request: Anthropic0.MessageCreateParamsNonStreaming = {
    model: 'claude-opus-5',
    max_tokens: 1_000,
    messages,
    tools: bobbin.tools,
  };
  const answered = async ({ role, content }: Anthropic0.Message): Promise<void> => {
    history.push({ role, content });
    const results: Anthropic0.ToolResultBlockParam[] = [];
    for (const block of content) {
      const result = await bobbin.answer(block, history);
      if (result !== undefined) results.push(result);
    }
    history.push({ role: 'user', content: results });
  };
  assert.ok(request.messages && answered);
});
