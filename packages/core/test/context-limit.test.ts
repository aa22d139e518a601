import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contextLimitOf, isContextLimit, type ContextLimit } from '../src/session/context-limit.ts';

/** What providers and servers answer, in the words they use, with what is to be read from it. */
const REFUSALS: readonly (readonly [name: string, error: unknown, ContextLimit])[] = [
  [
    'Anthropic, in its own envelope',
    {
      status: 400,
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 215012 tokens > 200000 maximum',
        },
      },
    },
    { provider: 'anthropic', requestTokens: 215_012, limitTokens: 200_000 },
  ],
  [
    'Anthropic, with the room for the answer',
    new Error(
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
    { provider: 'anthropic', requestTokens: 188_240, limitTokens: 200_000 },
  ],
  [
    'Anthropic, by bytes',
    { status: 413, error: { type: 'request_too_large' } },
    { provider: 'anthropic' },
  ],
  [
    'Anthropic, as a reason to stop',
    { type: 'model_context_window_exceeded' },
    { provider: 'anthropic' },
  ],
  [
    'OpenAI, Chat Completions',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 143,021 tokens. Please reduce the length of the messages.",
    { provider: 'openai', requestTokens: 143_021, limitTokens: 128_000 },
  ],
  [
    'OpenAI, with the completion; DeepSeek and vLLM alike',
    "This model's maximum context length is 65536 tokens. However, you requested 80012 tokens (72012 in the messages, 8000 in the completion).",
    { provider: 'openai', requestTokens: 80_012, limitTokens: 65_536 },
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 140211 tokens (132211 of text input, 8000 in the output).",
    { provider: 'openai', requestTokens: 140_211, limitTokens: 131_072 },
  ],
  [
    'OpenAI, Responses',
    {
      status: 400,
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model.',
    },
    { provider: 'openai' },
  ],
  [
    'OpenAI, by its code alone',
    { error: { code: 'context_length_exceeded' } },
    { provider: 'openai' },
  ],
  ['OpenAI, one string', { error: { code: 'string_above_max_length' } }, { provider: 'openai' }],
  [
    'OpenAI and Groq, one request above a minute’s tokens',
    {
      status: 429,
      message:
        'Request too large for gpt-4o in organization org on tokens per min (TPM): Limit 30000, Requested 35110. The input or output tokens must be reduced in order to run successfully.',
    },
    { provider: 'openai', requestTokens: 35_110, limitTokens: 30_000 },
  ],
  [
    'Google',
    'The input token count (1200001) exceeds the maximum number of tokens allowed (1048576).',
    { provider: 'google', requestTokens: 1_200_001, limitTokens: 1_048_576 },
  ],
  [
    'Vertex',
    'Unable to submit request because the input token count is 40112 but model only supports up to 32768.',
    { provider: 'google-vertex', requestTokens: 40_112, limitTokens: 32_768 },
  ],
  [
    'Bedrock',
    { name: 'ValidationException', message: 'Input is too long for requested model.' },
    { provider: 'amazon-bedrock' },
  ],
  [
    'xAI',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    { provider: 'xai', requestTokens: 537_812, limitTokens: 131_072 },
  ],
  [
    'Mistral',
    'Prompt contains 40112 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    { provider: 'mistral', requestTokens: 40_112, limitTokens: 32_768 },
  ],
  [
    'Cohere',
    'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130112.',
    { provider: 'cohere', requestTokens: 130_112, limitTokens: 128_000 },
  ],
  [
    'Cerebras',
    'Please reduce the length of the messages or completion. Current length is 9112 while limit is 8192',
    { provider: 'cerebras', requestTokens: 9_112, limitTokens: 8_192 },
  ],
  ['Groq', 'Please reduce the length of the messages or completion.', { provider: 'groq' }],
  [
    'GitHub Copilot',
    {
      error: {
        code: 'model_max_prompt_tokens_exceeded',
        message: 'prompt token count of 138112 exceeds the limit of 128000',
      },
    },
    { provider: 'github-copilot', requestTokens: 138_112, limitTokens: 128_000 },
  ],
  [
    'Fireworks',
    'The prompt is too long: 150112, model maximum context length: 131071',
    { provider: 'fireworks', requestTokens: 150_112, limitTokens: 131_071 },
  ],
  [
    'Text Generation Inference',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 200 `max_new_tokens`',
    { provider: 'text-generation-inference', requestTokens: 4_000, limitTokens: 4_097 },
  ],
  [
    'vLLM',
    'The decoder prompt (length 5112) is longer than the maximum model length of 4096.',
    { provider: 'vllm', requestTokens: 5_112, limitTokens: 4_096 },
  ],
  [
    'SGLang',
    "The input (5112 tokens) is longer than the model's context length (4096 tokens).",
    { provider: 'sglang', requestTokens: 5_112, limitTokens: 4_096 },
  ],
  [
    'llama.cpp, with sizes',
    {
      error: {
        type: 'exceed_context_size_error',
        message:
          'request (5112 tokens) exceeds the available context size (4096 tokens), try increasing it',
      },
    },
    { provider: 'llama.cpp', requestTokens: 5_112, limitTokens: 4_096 },
  ],
  [
    'llama.cpp, older',
    'the request exceeds the available context size.',
    { provider: 'llama.cpp' },
  ],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5112>= n_ctx: 4096).',
    { provider: 'lm-studio', requestTokens: 5_112, limitTokens: 4_096 },
  ],
  [
    'LM Studio, otherwise',
    'Trying to keep the first 5112 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    { provider: 'lm-studio', requestTokens: 5_112, limitTokens: 4_096 },
  ],
  ['Ollama', 'prompt too long; exceeded max context length by 112 tokens', { provider: 'ollama' }],
  [
    'Moonshot',
    'Invalid request: Your request exceeded model token limit: 131072 (requested: 140112)',
    { provider: 'moonshot', requestTokens: 140_112, limitTokens: 131_072 },
  ],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)', { provider: 'minimax' }],
  [
    'Zhipu',
    { error: { code: '1261', message: 'Prompt exceeds max length' } },
    { provider: 'zhipu' },
  ],
  [
    'DashScope',
    '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
    { provider: 'dashscope', limitTokens: 129_024 },
  ],
  [
    'a limit alone',
    "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
    { provider: 'openai', limitTokens: 8_192 },
  ],
  [
    'LangChain’s own error',
    { name: 'ContextOverflowError', message: 'too long' },
    { provider: 'langchain' },
  ],
  [
    'a proxy without a word',
    { statusCode: 413, message: '413 status code (no body)' },
    { provider: 'any' },
  ],
  [
    'AI SDK: the body as text, in a retry error',
    {
      name: 'AI_RetryError',
      message: 'Failed after 3 attempts.',
      lastError: {
        name: 'AI_APICallError',
        statusCode: 400,
        message: 'Bad Request',
        responseBody: JSON.stringify({
          error: {
            type: 'invalid_request_error',
            message: 'prompt is too long: 210 tokens > 200 maximum',
          },
        }),
      },
    },
    { provider: 'anthropic', requestTokens: 210, limitTokens: 200 },
  ],
  [
    'a cause',
    new Error('the agent failed', { cause: new Error('Input is too long for requested model.') }),
    { provider: 'amazon-bedrock' },
  ],
];

for (const [name, error, expected] of REFUSALS) {
  test(`E3 a context-limit error is known by its words: ${name}`, () => {
    assert.deepEqual(contextLimitOf(error), expected);
  });
}

const OTHERS: readonly (readonly [name: string, error: unknown])[] = [
  [
    'a rate limit',
    {
      status: 429,
      message:
        'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.',
    },
  ],
  [
    'Bedrock’s throttling',
    { name: 'ThrottlingException', message: 'Too many tokens, please wait before trying again.' },
  ],
  ['an overload', { status: 529, error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ['a wrong key', { status: 401, message: 'invalid x-api-key' }],
  [
    'an orphaned result',
    { status: 400, message: 'messages.2: tool_use ids were found without tool_result blocks' },
  ],
  ['a large rate', { status: 413, message: 'Rate limit: too many requests' }],
  ['nothing', undefined],
];

for (const [name, error] of OTHERS) {
  test(`E3 no context-limit error: ${name}`, () => {
    assert.equal(isContextLimit(error), false);
  });
}

test('E3 an error that holds itself is read to an end', () => {
  const error: { cause?: unknown; message: string } = { message: 'prompt is too long' };
  error.cause = error;
  assert.deepEqual(contextLimitOf(error), { provider: 'any' });
});
