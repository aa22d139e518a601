import { isJsonObject } from '@bobbin/core/internal';

/** What a request says about a conversation that its provider may keep. */
export interface KeptConversation {
  readonly thread?: unknown;
  readonly previous_response_id?: unknown;
  readonly conversation?: unknown;
}

/**
 * True if a request adds to a conversation that the provider keeps: Anthropic's `thread` of type `continue`, OpenAI's
 * `previous_response_id` or `conversation`. Its messages are only what is new, so it must be sent as it is.
 */
export function isKeptByProvider(request: KeptConversation): boolean {
  const { thread, previous_response_id: previous, conversation } = request;
  if (isJsonObject(thread)) return thread['type'] === 'continue';
  return (previous ?? conversation ?? null) !== null;
}
