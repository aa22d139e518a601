import { DecodeError, type SessionCompaction, type SessionFormat } from '@bobbin/codecs';
import type { Codec, Message } from '@bobbin/core';
import { didYouMean } from '@bobbin/core/internal';
import { InputError } from '../failure.ts';
import {
  MESSAGE_FORMATS,
  messageFormat,
  roleOf,
  ROLES,
  sessionCodec,
  sessionFormat,
} from './formats.ts';
import { Transcript } from './transcript.ts';

/** A conversation from outside, decoded, with the way back. */
export interface Conversation {
  readonly format: string;
  readonly codec: Codec<unknown>;
  readonly messages: readonly Message[];
  /** The model that the text names. */
  readonly model?: string;
  /** How many messages it had on the wire. */
  readonly wireMessages: number;
  /** Compactions that a harness made itself. */
  readonly compactions: readonly SessionCompaction[];
  /** The text that was read, with other messages in it; a session comes out as its provider's messages. */
  text(messages: readonly unknown[]): string;
}

/** @throws InputError if the text is not in the format. */
export function readConversation(text: string, source: string, format: string): Conversation {
  const session = sessionFormat(format, text);
  if (session !== undefined) return readSession(session, text, source);
  const transcript = new Transcript(text, source);
  return transcriptConversation(transcript, format, (messages) => transcript.text(messages));
}

/** A list of messages as a conversation; the caller says how it is written. */
export function transcriptConversation(
  transcript: Transcript,
  format: string,
  text: (messages: readonly unknown[]) => string,
): Conversation {
  const name = transcript.located(() => messageFormat(format, transcript.messages));
  const codec = MESSAGE_FORMATS[name];
  const { model } = transcript.fields;
  const messages = transcript.located(() => {
    checkRoles(transcript.messages);
    return codec.decode(transcript.messages);
  });
  return {
    format: name,
    codec,
    messages,
    ...(typeof model === 'string' ? { model } : {}),
    wireMessages: transcript.messages.length,
    compactions: [],
    text,
  };
}

/** A codec would carry such a message untouched, and its provider would refuse it. */
function checkRoles(messages: readonly unknown[]): void {
  for (const [i, message] of messages.entries()) {
    const role = roleOf(message);
    if (role === undefined || ROLES.includes(role)) continue;
    const problem = `must be one of ${ROLES.join(', ')}, is ${JSON.stringify(role)}`;
    throw new DecodeError(`messages[${i}].role`, problem + didYouMean(role, ROLES));
  }
}

function readSession(format: SessionFormat, text: string, source: string): Conversation {
  const { messages, compactions, header } = decodeSession(format, text, source);
  const codec = sessionCodec(format, messages);
  return {
    format: format.name,
    codec,
    messages,
    ...(header.model === undefined ? {} : { model: header.model }),
    wireMessages: messages.length,
    compactions,
    text: (result) => `${JSON.stringify(result, null, 2)}\n`,
  };
}

function decodeSession(format: SessionFormat, text: string, source: string) {
  try {
    return format.decode(text);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const line = Number(/^line (\d+)/.exec(error.path)?.[1] ?? 1);
    throw new InputError(source, { line, column: 1 }, error.message);
  }
}
