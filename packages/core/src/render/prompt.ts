import type { ArtifactId, Message, MessageId } from '../message/message.ts';

/** Where a message of the prompt comes from. */
export type Source =
  /** Exactly as it came in. */
  | { readonly kind: 'kept'; readonly id: MessageId }
  /** In its place, but changed by the plan or to be valid. */
  | {
      readonly kind: 'changed';
      readonly id: MessageId;
      readonly by: 'externalize' | 'clear' | 'hide' | 'stray' | 'unsigned';
    }
  /** Replaces the messages of a record. */
  | { readonly kind: 'record'; readonly record: number }
  /** Holds the place of a result that never came. */
  | { readonly kind: 'no-result'; readonly callId: string }
  /** An artifact that was read back: no thread contains this message. */
  | { readonly kind: 'rehydrated'; readonly artifactId: ArtifactId }
  /** Recalled from what was compacted: no thread contains this message. */
  | { readonly kind: 'recalled'; readonly id: MessageId }
  /** Added so that the roles are in an order that the provider takes. */
  | { readonly kind: 'bridge'; readonly beside?: 'reminder' };

export interface PromptMessage {
  readonly message: Message;
  readonly source: Source;
}

/** The messages that are sent to the model, in Bobbin's format. */
export interface Prompt {
  readonly messages: readonly PromptMessage[];
  /** The number of tokens of the messages, by the counter with which the plan was made. */
  readonly tokens: number;
  /** Indexes in `messages`: the provider should cache the prompt up to and including these messages. */
  readonly cachePoints: readonly number[];
}
