import type { Fitted } from '@bobbin/core';
import type { AiSdkMessage } from '@bobbin/codecs';
import type { Conversation } from '../conversation.ts';

/** A prompt and the conversation that it is of. */
export interface PreparedPrompt {
  readonly conversation: Conversation<AiSdkMessage>;
  readonly fitted: Fitted<AiSdkMessage>;
  /** True where `prepareStep` made it. */
  readonly isPrepared?: boolean;
}

/** The steps that were prepared and have not finished. */
export class OpenSteps {
  readonly #steps = new Map<Conversation<AiSdkMessage>, PreparedPrompt>();

  add(conversation: Conversation<AiSdkMessage>, fitted: Fitted<AiSdkMessage>): void {
    this.#steps.set(conversation, { conversation, fitted, isPrepared: true });
  }

  /**
   * The prompt of the only step that is open, which is thereby finished. The SDK does not say of which conversation a
   * finished step is: where several are open, what it said comes with the next list of its conversation.
   */
  finish(): readonly AiSdkMessage[] | undefined {
    const [only, other] = this.#steps.values();
    if (only === undefined || other !== undefined) return undefined;
    this.#steps.delete(only.conversation);
    return only.fitted.messages;
  }

  /** The prepared step whose prompt a model is asked with, known by how it begins: the SDK joins messages further on. */
  preparedAs([first]: readonly AiSdkMessage[]): PreparedPrompt | undefined {
    if (first === undefined) return undefined;
    return [...this.#steps.values()].find(({ conversation }) => conversation.beginsWith(first));
  }
}
