import type { Message } from '@bobbin/core';
import { canonicalJson, withParts } from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import type { Place } from '../wire/place.ts';
import { openaiChat } from '../openai/chat.ts';
import { recogniseMessages } from '../recognise.ts';

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

/** A message that Bobbin wrote, unchanged, after a check that it is one. */
export function checkedMessage(place: Place): Message {
  if (!ROLES.has(place.at('role').text())) return place.at('role').fail('must be a role');
  if (place.has('meta')) place.at('meta').object();
  if (place.has('extra')) place.at('extra').object();
  place.at('parts').list().forEach(checkPart);
  return place.value as Message;
}

/** The texts that each kind of part has. */
const FIELDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['call', ['callId', 'tool', 'args']],
  ['result', ['callId']],
  ['image', ['source']],
  ['file', ['source']],
  ['opaque', ['type']],
]);
const WITHIN_RESULTS = new Set(['text', 'image', 'file', 'opaque']);

function checkPart(place: Place): void {
  const kind = place.at('kind').text();
  const fields = FIELDS.get(kind) ?? place.at('kind').fail('must be a kind of part');
  for (const field of fields) place.at(field).text();
  if (kind !== 'result') return;
  for (const inner of place.at('content').list()) {
    if (!WITHIN_RESULTS.has(inner.at('kind').text()))
      inner.at('kind').fail('must be a kind of content');
    checkPart(inner);
  }
}

/**
 * A store keeps the wire form of messages but not its format. The form stays if a codec of a provider reads the very
 * same message out of it; otherwise, as with messages of a framework, any codec can write what the messages say.
 */
export function withKnownWire(messages: readonly Message[]): readonly Message[] {
  const wired = messages.filter(({ original }) => original !== undefined);
  if (isReadAlike(wired)) return messages;
  return messages.map((message) => withParts(message, message.parts));
}

function isReadAlike(messages: readonly Message[]): boolean {
  const wire = messages.map(({ original }) => original as object);
  try {
    const read = (recogniseMessages(wire) ?? openaiChat).decode(wire);
    return (
      read.length === messages.length &&
      read.every((message, i) => saidBy(message) === saidBy(messages[i] as Message))
    );
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

function saidBy({ role, parts }: Message): string {
  return canonicalJson({ role, parts });
}
