import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Codec, Message, Part } from '@bobbin/core';
import { withParts } from '@bobbin/core/internal';

/** Decodes, checks that encoding gives equal JSON in the same order of fields, and returns the messages. */
export function lossless(codec: Codec<object>, wire: readonly object[]): readonly Message[] {
  const before = JSON.stringify(wire);
  const messages = codec.decode(wire);
  assert.equal(JSON.stringify(codec.encode(messages)), before);
  assert.ok(isDeepStrictEqual(codec.decode(JSON.parse(before) as object[]), messages));
  return messages;
}

export type Bare = Omit<Message, 'original' | 'meta'>;

/** What a message says, without the form that it came in. */
export function bare(message: Message): Bare {
  const { original: _, meta: __, ...rest } = message;
  return rest;
}

/** Messages as a compaction leaves them that changed each of them: the codec has only what it decoded. */
export function changed(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => withParts(message, message.parts));
}

/** A message whose results were cleared. */
export function cleared(message: Message): Message {
  const parts = message.parts.map((part): Part =>
    part.kind === 'result' ? { ...part, content: [{ kind: 'text', text: '[cleared]' }] } : part,
  );
  return withParts(message, parts);
}
