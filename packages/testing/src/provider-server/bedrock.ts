import { bedrockProblems } from '@bobbin/codecs';
import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import type { Dialect, ProviderUsage } from './provider-server.ts';
import { objectsIn } from './rules.ts';

const ERRORS: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
};

const FINISHES = {
  stop: 'end_turn',
  length: 'max_tokens',
  refusal: 'guardrail_intervened',
} as const;

/** Amazon Bedrock's Converse API. Its stream is binary and is not played. */
export const bedrockDialect: Dialect = {
  path: /^\/model\/[^/]+\/converse$/,
  problem(body, headers) {
    if (headers['authorization'] === undefined) return 'Missing Authentication Token';
    const messages = objectsIn(body['messages']);
    return bedrockProblems({ ...body, messages })[0] ?? toolProblem(body, messages);
  },
  answer: (text, finish, usage) => response([{ text }], FINISHES[finish], usage),
  call(tool, input, usage, _, index) {
    const toolUse = { toolUseId: `tooluse_${index}`, name: tool, input };
    return response([{ toolUse }], 'tool_use', usage);
  },
  error: (status, message) => ({
    __type: ERRORS[status] ?? 'InternalServerException',
    message,
  }),
  stream() {
    throw new Error('the scripted Bedrock server has no streams');
  },
  overflow: { status: 400, message: 'Input is too long for requested model.' },
};

/** A conversation with calls and results names the tools that it has. */
function toolProblem(body: JsonObject, messages: readonly JsonObject[]): string | undefined {
  const hasTools = messages.some(({ content }) =>
    objectsIn(content).some(({ toolUse, toolResult }) => (toolUse ?? toolResult) !== undefined),
  );
  return hasTools && !isJsonObject(body['toolConfig'])
    ? 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
    : undefined;
}

function response(
  content: readonly JsonObject[],
  stopReason: string,
  usage: ProviderUsage,
): JsonObject {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.inputTokens + usage.outputTokens + usage.cacheReadTokens,
      cacheReadInputTokens: usage.cacheReadTokens,
      cacheWriteInputTokens: 0,
    },
    metrics: { latencyMs: 1 },
  };
}
