import type { JsonObject } from '@bobbin/core/internal';

export interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
}

/** How a format writes the calls and results of tools that the provider runs. */
export interface ServerBlocks {
  /** The id of a call that the provider answers. */
  readonly called: (block: JsonObject) => unknown;
  /** The id of the call that the provider answered here. */
  readonly answered: (block: JsonObject, message: WireMessage) => unknown;
  /** The id of the call whose code made this call of the host's tool. */
  readonly caller: (block: JsonObject) => unknown;
  /** True for an answer that calls the host's tools: code of the provider's may have made the calls. */
  readonly callsHost: (message: WireMessage) => boolean;
  readonly isHostsResult: (block: JsonObject, message: WireMessage) => boolean;
  /** A block that lost its other half, as text; a call that lost its caller, without it. */
  readonly asText: (block: JsonObject) => JsonObject;
}

/**
 * The same messages with only whole pairs of the provider's own tools. What a compaction took a half of becomes text.
 * Code that still waits for the host's tools at the end stays as it is.
 */
export function wholeServerPairs<Wire extends WireMessage>(
  messages: readonly Wire[],
  wire: ServerBlocks,
): readonly Wire[] {
  const { calls, answered } = serverCalls(messages, wire);
  const isWhole = (block: JsonObject, message: WireMessage): boolean => {
    const id = wire.called(block) ?? wire.answered(block, message) ?? wire.caller(block);
    return id === undefined || (calls.has(id) && (answered.has(id) || calls.get(id) === 'running'));
  };
  return messages.map((message) => {
    const blocks = blocksOf(message);
    if (blocks.every((block) => isWhole(block, message))) return message;
    const content = blocks.map((block) => (isWhole(block, message) ? block : wire.asText(block)));
    return { ...message, content };
  });
}

interface ServerCalls {
  /** By id: a call since which only the host's tools were called and gave results may still be answered. */
  readonly calls: ReadonlyMap<unknown, 'running' | 'over'>;
  readonly answered: ReadonlySet<unknown>;
}

function serverCalls(messages: readonly WireMessage[], wire: ServerBlocks): ServerCalls {
  const calls = new Map<unknown, 'running' | 'over'>();
  const answered = new Set<unknown>();
  for (const message of messages) {
    const blocks = blocksOf(message);
    const goesOn =
      message.role === 'assistant'
        ? wire.callsHost(message)
        : blocks.length > 0 && blocks.every((each) => wire.isHostsResult(each, message));
    if (!goesOn && message.role !== 'system') for (const id of calls.keys()) calls.set(id, 'over');
    for (const block of blocks) {
      const called = wire.called(block);
      if (called !== undefined) calls.set(called, 'running');
      answered.add(wire.answered(block, message));
    }
  }
  return { calls, answered };
}

export function blocksOf({ content }: WireMessage): readonly JsonObject[] {
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}
