import {
  textMessage,
  type CallPart,
  type FilePart,
  type ImagePart,
  type Message,
  type OpaquePart,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type ThreadId,
} from '@bobbin/core';
import {
  canonicalJson,
  sha256,
  Thread,
  type ContentPart,
  type Json,
  type JsonObject,
  type MessageMeta,
} from '@bobbin/core/internal';

/** A string is a text part. */
export type Says = string | Part;

export function system(text: string, meta?: MessageMeta): Message {
  return textMessage('system', text, meta);
}

export function user(...says: readonly Says[]): Message {
  return { role: 'user', parts: says.map(part) };
}

export function assistant(...says: readonly Says[]): Message {
  return { role: 'assistant', parts: says.map(part) };
}

/** A call of a tool. Without an id it gets one from its content, so that other arguments are another call. */
export function call(tool: string, args: JsonObject | string = {}, callId?: string): CallPart {
  const text = typeof args === 'string' ? args : canonicalJson(args);
  return {
    kind: 'call',
    callId: callId ?? `${tool}-${sha256(text).slice(0, 8)}`,
    tool,
    args: text,
  };
}

/** The tool message that answers a call. */
export function result(
  of: CallPart,
  content: string | readonly ContentPart[],
  envelope: Partial<Omit<ResultPart, 'kind' | 'callId' | 'content'>> = {},
): Message {
  return { role: 'tool', parts: [resultPart(of, content, envelope)] };
}

/** An answer to a call as a part, for messages that hold several. */
export function resultPart(
  of: CallPart,
  content: string | readonly ContentPart[],
  envelope: Partial<Omit<ResultPart, 'kind' | 'callId' | 'content'>> = {},
): ResultPart {
  return {
    kind: 'result',
    callId: of.callId,
    tool: of.tool,
    content: typeof content === 'string' ? [{ kind: 'text', text: content }] : content,
    ...envelope,
  };
}

/** One round: an assistant message that calls a tool, and its answer. */
export function round(
  tool: string,
  args: JsonObject | string,
  content: string,
  envelope: Partial<Omit<ResultPart, 'kind' | 'callId' | 'content'>> = {},
): readonly [Message, Message] {
  const made = call(tool, args);
  return [assistant(made), result(made, content, envelope)];
}

export function reasoning(text: string, signature?: string): ReasoningPart {
  return signature === undefined
    ? { kind: 'reasoning', text }
    : { kind: 'reasoning', text, signature };
}

export function image(source: string, about: Partial<Omit<ImagePart, 'kind'>> = {}): ImagePart {
  return { kind: 'image', source, ...about };
}

export function file(source: string, about: Partial<Omit<FilePart, 'kind'>> = {}): FilePart {
  return { kind: 'file', source, ...about };
}

export function opaque(type: string, value: Json): OpaquePart {
  return { kind: 'opaque', type, value };
}

/** The same message with more known of it. */
export function withMeta(message: Message, meta: MessageMeta): Message {
  return { ...message, meta: { ...message.meta, ...meta } };
}

/** A thread of messages, named `test`. */
export function thread(...messages: readonly Message[]): Thread {
  const made = new Thread('test' as ThreadId);
  for (const message of messages) made.append(message);
  return made;
}

function part(says: Says): Part {
  return typeof says === 'string' ? { kind: 'text', text: says } : says;
}
