/** A recorded conversation, as the shared measures load it. */
export interface Recorded {
  readonly id: string;
  readonly messages: readonly Turn[];
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content?: string;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: unknown;
  }[];
}
