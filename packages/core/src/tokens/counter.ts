import { jsonText, type Json } from '../message/json.ts';
import type { Message } from '../message/message.ts';
import { countMessages, estimateTokens, type ContentTokens } from './estimate.ts';
import { mediaTokens, type MediaProvider } from './media.ts';

/** What is sent to a model in addition to the messages; together they are the whole request. */
export interface RequestShape {
  readonly system?: string;
  readonly tools?: Json;
  readonly messages: readonly Message[];
}

/** Counts tokens as one provider does. Counting the same message twice must give the same number. */
export interface Counter {
  readonly name: string;
  readonly text: (text: string) => number;
  readonly message: (message: Message) => number;
  /** Tool schemas as they are sent: JSON of any shape. */
  readonly tools: (schemas: Json) => number;
  readonly request: (request: RequestShape) => number;
}

export interface CounterShape extends ContentTokens {
  readonly name: string;
}

/** A whole counter from the count of a text. Messages are counted once and remembered, unless `message` does it. */
export function counterOf(
  shape: CounterShape,
  message: Counter['message'] = remembered(shape),
): Counter {
  const { name, text } = shape;
  const tools = (schemas: Json): number => text(jsonText(schemas));
  return {
    name,
    text,
    message,
    tools,
    request: (request) =>
      text(request.system ?? '') +
      (request.tools === undefined ? 0 : tools(request.tools)) +
      request.messages.reduce((sum, m) => sum + message(m), 0),
  };
}

function remembered(shape: CounterShape): Counter['message'] {
  const counted = new WeakMap<Message, number>();
  return (message) => {
    let tokens = counted.get(message);
    if (tokens === undefined) {
      tokens = countMessages([message], shape);
      counted.set(message, tokens);
    }
    return tokens;
  };
}

/** The seed's heuristic as a counter. */
export function chars4(provider?: MediaProvider): Counter {
  return counterOf({ name: 'chars4', text: estimateTokens, media: mediaTokens(provider) });
}
