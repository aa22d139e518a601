import type { Model } from '@openai/agents';
import { isContextLimit, isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';

export type StreamEvent = Model['getStreamedResponse'] extends (
  request: never,
) => AsyncIterable<infer Event>
  ? Event
  : never;

/**
 * A stream whose answer has begun: until then a refusal can still be handled. OpenAI reports that it accepted a request
 * before it checks its length, so the events before the answer are held back.
 */
export async function begun(
  stream: AsyncIterable<StreamEvent>,
): Promise<AsyncIterable<StreamEvent>> {
  const iterator = stream[Symbol.asyncIterator]();
  const held: StreamEvent[] = [];
  try {
    let next = await iterator.next();
    while (next.done !== true && isOpening(next.value)) {
      held.push(next.value);
      next = await iterator.next();
    }
    return resumed(held, next, iterator);
  } catch (error) {
    const refusal = held.map(failureOf).find(isContextLimit);
    throw refusal === undefined
      ? error
      : new Error('the provider refused the prompt as too long', { cause: refusal });
  }
}

async function* resumed(
  held: readonly StreamEvent[],
  first: IteratorResult<StreamEvent>,
  iterator: AsyncIterator<StreamEvent>,
): AsyncGenerator<StreamEvent> {
  try {
    yield* held;
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** The events of the Responses API before its answer; `response.failed` comes in place of one. */
const OPENINGS = new Set<unknown>([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.failed',
]);

function isOpening(event: StreamEvent): boolean {
  return (
    event.type === 'response_started' ||
    (event.type === 'model' && OPENINGS.has(rawOf(event)?.['type']))
  );
}

/** Why a response failed; the model's own error says only that it did. */
function failureOf(event: StreamEvent): Json | undefined {
  const response = rawOf(event)?.['response'];
  return isJsonObject(response) ? response['error'] : undefined;
}

function rawOf(event: StreamEvent): JsonObject | undefined {
  const raw: unknown = event.type === 'model' ? event.event : undefined;
  return isJsonObject(raw) ? raw : undefined;
}
