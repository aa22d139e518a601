import type { JsonObject } from '@bobbin/core/internal';
import { named } from './pairs.ts';

/** A request to the Messages API, as far as its rules are about it. */
export interface AnthropicRequest {
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly thinking?: unknown;
  readonly thread?: unknown;
  readonly messages: readonly object[];
}

export interface PlacedBlock {
  readonly path: string;
  readonly block: JsonObject;
}

/** The API joins messages of one role that follow one another. */
export interface AnthropicTurn {
  readonly role: string;
  readonly path: string;
  readonly blocks: PlacedBlock[];
}

export function turnsOf({ messages }: AnthropicRequest): readonly AnthropicTurn[] {
  const turns: AnthropicTurn[] = [];
  messages.forEach((wire, i) => {
    const { role, content } = wire as JsonObject;
    const path = `messages[${i}]`;
    const blocks = blocksOf(content).map((block, j) => ({ path: `${path}.content[${j}]`, block }));
    const last = turns.at(-1);
    if (last !== undefined && last.role === role && role !== 'system') last.blocks.push(...blocks);
    else turns.push({ role: named(role), path, blocks });
  });
  return turns;
}

function blocksOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}
