import type { Usage } from '@bobbin/core';
import { isContextLimit, isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';
import type { ModelSource } from './model-source.ts';
import { judged, messageOf, type CallOutcome, type ModelCall } from './model-call.ts';

type Source<Kind extends ModelSource['kind']> = Extract<ModelSource, { readonly kind: Kind }>;

const ANSWER = 'json';

/** Asks by OpenAI's own client, or one of a compatible server. */
export function callOpenAI(
  call: ModelCall,
  { client, model }: Source<'openai'>,
): Promise<CallOutcome> {
  const { schema, signal, maxOutputTokens, temperature } = call;
  const body = {
    model,
    messages: [
      ...(call.system === undefined ? [] : [{ role: 'system', content: textOf(call.system) }]),
      ...call.messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    ],
    max_completion_tokens: maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: ANSWER, schema } } }),
  };
  return answered(signal, async () => {
    const options = { signal, maxRetries: 0 };
    const response = fields(await client.chat.completions.create(body as never, options as never));
    const [choice] = listOf(response['choices']);
    const { finish_reason: finish, message } = fields(choice);
    const { content } = fields(message);
    return judged(textOf(content), FINISHES.get(finish) ?? 'stop', openaiUsage(response));
  });
}

/** Anthropic's name for requests that compact and do nothing else. */
const COMPACTION_BETA = 'compact-2026-09-04';

/** Asks for the provider's own compaction, and reads the text of its block. */
function callCompaction(
  call: ModelCall,
  { client, model }: Source<'anthropic'>,
): Promise<CallOutcome> {
  const { signal, maxOutputTokens, compaction: instructions } = call;
  const body = {
    model,
    max_tokens: maxOutputTokens,
    messages: call.messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    compaction: { type: 'summarize', instructions },
    betas: [COMPACTION_BETA],
  };
  return answered(signal, async () => {
    const options = { signal, maxRetries: 0 };
    const api = client.beta?.messages ?? client.messages;
    const response = fields(await api.create(body as never, options as never));
    const blocks = listOf(response['content']).map(fields);
    const block = blocks.find(({ type }) => type === 'compaction');
    const text = typeof block?.['content'] === 'string' ? block['content'] : '';
    const [iteration] = listOf(fields(response['usage'])['iterations']).map(fields);
    return judged(
      text,
      'stop',
      anthropicUsage(iteration === undefined ? response : { usage: iteration }),
    );
  });
}

/** Asks by Anthropic's own client. A schema is that of a tool which the model has to call. */
export function callAnthropic(call: ModelCall, source: Source<'anthropic'>): Promise<CallOutcome> {
  if (call.compaction !== undefined) return callCompaction(call, source);
  const { client, model } = source;
  const { schema, signal, maxOutputTokens, temperature } = call;
  const tool = { name: ANSWER, description: 'Takes the answer.', input_schema: schema };
  const body = {
    model,
    max_tokens: maxOutputTokens,
    ...(call.system === undefined ? {} : { system: textOf(call.system) }),
    messages: call.messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    ...(temperature === undefined ? {} : { temperature }),
    ...(schema === undefined ? {} : { tools: [tool], tool_choice: { type: 'tool', name: ANSWER } }),
  };
  return answered(signal, async () => {
    const options = { signal, maxRetries: 0 };
    const response = fields(await client.messages.create(body as never, options as never));
    const blocks = listOf(response['content']).map(fields);
    const called = blocks.find(({ type }) => type === 'tool_use');
    const said = called === undefined ? textOf(blocks) : JSON.stringify(called['input']);
    const finish = called === undefined ? response['stop_reason'] : 'tool_use';
    const cut = response['stop_reason'] === 'max_tokens';
    return judged(
      said,
      cut ? 'length' : (FINISHES.get(finish) ?? 'stop'),
      anthropicUsage(response),
    );
  });
}

/** Asks a chat model of LangChain's, with structured output if it has that. */
export function callLangchain(
  call: ModelCall,
  { model }: Source<'langchain'>,
): Promise<CallOutcome> {
  const { schema, signal } = call;
  const messages = [
    ...(call.system === undefined ? [] : [['system', textOf(call.system)]]),
    ...call.messages.map(({ role, content }) => [role, textOf(content)]),
  ];
  return answered(signal, async () => {
    const isStructured = schema !== undefined && typeof model.withStructuredOutput === 'function';
    const asked = isStructured
      ? model.withStructuredOutput?.(
          { title: ANSWER, ...schema } as never,
          { includeRaw: true } as never,
        )
      : model;
    const answer = fields(await asked?.invoke(messages as never, { signal } as never));
    const raw = fields(isStructured ? answer['raw'] : answer);
    const parsed = isStructured ? answer['parsed'] : undefined;
    const text = isJsonObject(parsed) ? JSON.stringify(parsed) : textOf(raw['content']);
    const { finish_reason: finish, stop_reason: stop } = fields(raw['response_metadata']);
    const ended = FINISHES.get(finish ?? stop) ?? 'stop';
    return judged(text, ended, langchainUsage(fields(raw['usage_metadata'])));
  });
}

/** How providers say why an answer ends, in the words of the AI SDK. */
const FINISHES: ReadonlyMap<unknown, string> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter', 'content-filter'],
  ['refusal', 'content-filter'],
]);

async function answered(
  signal: AbortSignal,
  ask: () => Promise<CallOutcome>,
): Promise<CallOutcome> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) return { kind: 'permanent-failure', reason: messageOf(signal.reason) };
    return failureOf(error);
  }
}

const RETRYABLE = new Set<unknown>([408, 409, 429]);

function failureOf(error: unknown): CallOutcome {
  const { status, headers, name } = fields(error);
  const reason = messageOf(error);
  if (isContextLimit(error)) return { kind: 'overflow', reason };
  const isDown =
    (typeof name === 'string' && /Connection/.test(name)) ||
    fields(error)['code'] === 'ECONNREFUSED';
  const isRetryable =
    isDown || RETRYABLE.has(status) || (typeof status === 'number' && status >= 500);
  if (!isRetryable) return { kind: 'permanent-failure', reason };
  return { kind: 'failure', reason, retryAfterMs: retryAfterMs(headers) };
}

function retryAfterMs(headers: unknown): number | undefined {
  if (!(headers instanceof Headers)) return undefined;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

/** OpenAI counts what it cached as part of the input. */
function openaiUsage(response: JsonObject): Usage {
  const usage = fields(response['usage']);
  const cached = count(fields(usage['prompt_tokens_details'])['cached_tokens']);
  return {
    inputTokens: Math.max(0, count(usage['prompt_tokens']) - cached),
    outputTokens: count(usage['completion_tokens']),
    cacheReadTokens: cached,
    cacheWriteTokens: 0,
  };
}

function anthropicUsage(response: JsonObject): Usage {
  const usage = fields(response['usage']);
  return {
    inputTokens: count(usage['input_tokens']),
    outputTokens: count(usage['output_tokens']),
    cacheReadTokens: count(usage['cache_read_input_tokens']),
    cacheWriteTokens: count(usage['cache_creation_input_tokens']),
  };
}

/** LangChain counts what was cached as part of the input. */
function langchainUsage(usage: JsonObject): Usage {
  const details = fields(usage['input_token_details']);
  const [read, written] = [count(details['cache_read']), count(details['cache_creation'])];
  return {
    inputTokens: Math.max(0, count(usage['input_tokens']) - read - written),
    outputTokens: count(usage['output_tokens']),
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
}

/** The text of a content: a text, a message, or a list of blocks. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content))
    return content
      .map((block) => fields(block)['text'])
      .filter((text) => typeof text === 'string')
      .join('');
  return isJsonObject(content) ? textOf(content['content']) : '';
}

function listOf(value: Json | undefined): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fields(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
