import { canonicalJson, type Json, type JsonObject } from './json.ts';
import { sha256 } from './sha256.ts';

declare const brand: unique symbol;
/** A string or number that must not be mistaken for another one. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** The id of a message: a hash of its content and of everything before it. */
export type MessageId = Brand<string, 'MessageId'>;
/** The name of a thread. It is unique within its tenant. */
export type ThreadId = Brand<string, 'ThreadId'>;
export type ArtifactId = Brand<string, 'ArtifactId'>;

/** The speaker of a message. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** A text that the speaker of the message wrote. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A thought of the model. `signature` is set if the provider signs the thought and binds it to the bytes before it. */
export interface ReasoningPart {
  readonly kind: 'reasoning';
  readonly text: string;
  readonly signature?: string;
}

/** A tool call by the model. */
export interface CallPart {
  readonly kind: 'call';
  readonly callId: string;
  readonly tool: string;
  /** The arguments as JSON text, exactly as the model wrote them. The text may be malformed. */
  readonly args: string;
}

export type Outcome = 'success' | 'failure' | 'partial';
export type Durability = 'ephemeral' | 'anchoring' | 'replayable' | 'non-replayable';

/** The state of a source when a tool read it. It shows later whether the source has changed. */
export interface Determinism {
  readonly contentHash?: string;
  readonly etag?: string;
  readonly mtime?: number;
  readonly version?: string;
}

/** The result of a tool call: its content, and facts about it that a compaction uses. */
export interface ResultPart {
  readonly kind: 'result';
  readonly callId: string;
  readonly content: readonly ContentPart[];
  readonly tool?: string;
  readonly outcome?: Outcome;
  /** Fields that stay when the content is cleared, such as ids, states and totals. */
  readonly keyFields?: JsonObject;
  readonly durability?: Durability;
  readonly determinism?: Determinism;
  readonly startedAt?: number;
  readonly completedAt?: number;
}

/** An image. */
export interface ImagePart {
  readonly kind: 'image';
  /** A URL, a data URL, a path or a provider's file id. */
  readonly source: string;
  readonly mediaType?: string;
  readonly widthPx?: number;
  readonly heightPx?: number;
}

/** A file. */
export interface FilePart {
  readonly kind: 'file';
  readonly source: string;
  readonly name?: string;
  readonly mediaType?: string;
  readonly pages?: number;
}

/** Content that the codec does not understand. It is sent unchanged and never compacted. */
export interface OpaquePart {
  readonly kind: 'opaque';
  readonly type: string;
  readonly value: Json;
  /** Set if this is a provider's own compaction. The provider then ignores everything before this part. */
  readonly compaction?: true;
}

export type ContentPart = TextPart | ImagePart | FilePart | OpaquePart;
/** A part of a message: text, reasoning, a tool call, a tool result, an image, a file, or unknown content. */
export type Part = ContentPart | ReasoningPart | CallPart | ResultPart;

/** The token counts that a provider reported for the request whose answer is an assistant message. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Facts about a message that are not part of its content. They do not affect its id. */
export interface MessageMeta {
  /** Milliseconds since the epoch. */
  readonly time?: number;
  readonly author?: string;
  /** The sub-agent branch that the message belongs to; absent on the root branch. */
  readonly branch?: string;
  /** True if a compaction made the message, such as an imported summary. A user or a model did not write it. */
  readonly synthetic?: boolean;
  readonly usage?: Usage;
  readonly status?: 'complete' | 'aborted' | 'error';
  readonly model?: string;
  /** When the message is older than this, the prompt shows `replacement` instead. */
  readonly ttlMs?: number;
  readonly replacement?: string;
  readonly pinned?: boolean;
  /** The state of the sources of replayable results when the results arrived, by call id. */
  readonly sources?: Readonly<Record<string, Determinism>>;
}

/** A message of a conversation: a role and a list of parts. */
export interface Message {
  readonly role: Role;
  readonly parts: readonly Part[];
  /** Fields of the host's format that belong to the content, but that the engine does not use. */
  readonly extra?: JsonObject;
  readonly meta?: MessageMeta;
  /**
   * The message in the provider's format, as the host passed it. If the message is not compacted, exactly this is sent.
   * It does not affect the id.
   */
  readonly original?: unknown;
}

const contentHashes = new WeakMap<Message, string>();

/** The hash of what a message says, at any position. */
export function contentHash(message: Message): string {
  let hash = contentHashes.get(message);
  if (hash === undefined) {
    const { role, extra } = message;
    const parts = message.parts.map(hashedPart);
    hash = sha256(canonicalJson(extra === undefined ? { role, parts } : { role, parts, extra }));
    contentHashes.set(message, hash);
  }
  return hash;
}

const LONG_CHARS = 65_536;

/** A part with the hash of a long text in the place of the text: the text itself is hashed once, for all who need it. */
function hashedPart(part: Part): unknown {
  if (part.kind === 'result') return { ...part, content: part.content.map(hashedPart) };
  if (part.kind !== 'text' || part.text.length < LONG_CHARS) return part;
  return { ...part, text: undefined, textHash: textHash(part) };
}

const textHashes = new WeakMap<TextPart, string>();

/** The SHA-256 of a part's text. */
export function textHash(part: TextPart): string {
  let hash = textHashes.get(part);
  if (hash === undefined) {
    hash = sha256(part.text);
    textHashes.set(part, hash);
  }
  return hash;
}

/** A message's id: a hash of its parent's id and its own content, so that equal histories have equal ids. */
export function messageId(parent: MessageId | null, message: Message): MessageId {
  return sha256(`${parent ?? ''}\n${contentHash(message)}`).slice(0, 32) as MessageId;
}

/** A message that consists of one text. */
export function textMessage(role: Role, text: string, meta?: MessageMeta): Message {
  const parts: readonly Part[] = [{ kind: 'text', text }];
  return meta === undefined ? { role, parts } : { role, parts, meta };
}

/** The same message with other parts: it differs from what came in, so it has no wire form. */
export function withParts(message: Message, parts: readonly Part[]): Message {
  const { original: _, ...rest } = message;
  return { ...rest, parts };
}

export function callsOf(message: Message): readonly CallPart[] {
  return message.parts.filter((part) => part.kind === 'call');
}

export function resultsOf(message: Message): readonly ResultPart[] {
  return message.parts.filter((part) => part.kind === 'result');
}

export function hasCalls(message: Message): boolean {
  return message.parts.some((part) => part.kind === 'call');
}

export function hasResults(message: Message): boolean {
  return message.parts.some((part) => part.kind === 'result');
}

/** True if a provider has bound the message to the bytes before it. */
export function isSigned(message: Message): boolean {
  return message.parts.some((part) => part.kind === 'reasoning' && part.signature !== undefined);
}

/** True if a provider compacted the conversation in this message: it reads nothing else of what came before. */
export function hasCompaction(message: Message): boolean {
  return message.parts.some((part) => part.kind === 'opaque' && part.compaction === true);
}

/** True if a codec met something it could not read: such a message is never compacted. */
export function isOpaque(message: Message): boolean {
  return message.parts.some(
    (part) =>
      part.kind === 'opaque' ||
      (part.kind === 'result' && part.content.some((inner) => inner.kind === 'opaque')),
  );
}

/** The bytes that pictures and files take in a request: those that are part of a message, as base64. */
export function mediaBytes({ parts }: Message): number {
  let bytes = 0;
  for (const part of parts)
    for (const inner of part.kind === 'result' ? part.content : [part])
      if (isSentMedia(inner)) bytes += inner.source.length;
  return bytes;
}

/** True for a picture or a file that is part of the request, not one that the provider fetches by its address. */
export function isSentMedia(part: Part): part is ImagePart | FilePart {
  return (part.kind === 'image' || part.kind === 'file') && part.source.startsWith('data:');
}

/** The text of a message: its text parts, without calls, results and reasoning. */
export function textOf({ parts }: Pick<Message, 'parts'>): string {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return only.text;
  const texts: string[] = [];
  for (const part of parts) if (part.kind === 'text') texts.push(part.text);
  return texts.join('\n');
}

/** The text of a tool result's content. */
export function resultText({ content }: ResultPart): string {
  return textOf({ parts: content });
}

/** True for a summary that a harness or a plan made. Text that only looks like one belongs to its author. */
export function isSummary({ meta }: Message): boolean {
  return meta?.synthetic === true;
}

const HOST_TEXT =
  /^\s{0,9}(?:<(?:environment_context|user_instructions|system-reminder|INSTRUCTIONS)\b|# AGENTS\.md instructions)/;

/** A message in the user's role that a host wrote: its instructions files, its environment. */
export function isHostMade(message: Message): boolean {
  const { role, meta } = message;
  if (meta?.author !== undefined) return meta.author !== 'user';
  return role === 'user' && HOST_TEXT.test(textOf(message));
}

/** A turn starts at a message that a person sent on the root branch: no tool result, no summary. */
export function startsTurn(message: Message): boolean {
  const { branch, synthetic } = message.meta ?? {};
  if (message.role !== 'user' || branch !== undefined || synthetic === true) return false;
  return !hasResults(message);
}

/** All that a message says, with the arguments of its calls and the texts of its results. */
export function wholeText(message: Message): string {
  return [
    textOf(message),
    ...callsOf(message).map(({ args }) => args),
    ...resultsOf(message).map(resultText),
  ].join('\n');
}
