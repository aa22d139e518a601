import { resultsOf, type Message } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import type { ToolPolicies, ToolPolicy } from './durability.ts';
import type { Hide } from './plan.ts';

/** True if a message has a time to live. */
export function expires(message: Message, tools: ToolPolicies): boolean {
  return (message.meta?.ttlMs ?? toolPolicy(message, tools)?.ttlMs) !== undefined;
}

/** When a message expires; infinity if it never does. */
export function expiryOf(message: Message, tools: ToolPolicies): number {
  const ttlMs = message.meta?.ttlMs ?? toolPolicy(message, tools)?.ttlMs;
  const time = message.meta?.time;
  return ttlMs === undefined || time === undefined ? Number.POSITIVE_INFINITY : time + ttlMs;
}

/** The messages whose time to live is over, with their replacements. */
export function expired(nodes: readonly Node[], tools: ToolPolicies, now: number): readonly Hide[] {
  return nodes
    .filter(({ message }) => expiryOf(message, tools) < now)
    .map(({ id, message }) => ({ id, replacement: replacementFor(message, tools) }));
}

/** The next time at which something expires; what is pinned past its time waits for the next compaction. */
export function nextExpiry(nodes: readonly Node[], tools: ToolPolicies, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { message } of nodes) {
    const expiry = expiryOf(message, tools);
    if (expiry >= now) next = Math.min(next, expiry);
  }
  return next;
}

function replacementFor(message: Message, tools: ToolPolicies): string {
  const policy = toolPolicy(message, tools);
  return message.meta?.replacement ?? policy?.replacement ?? '[Hidden: no longer current]';
}

function toolPolicy(message: Message, tools: ToolPolicies): ToolPolicy | undefined {
  for (const { tool } of resultsOf(message)) {
    const policy = tool === undefined ? undefined : tools[tool];
    if (policy?.ttlMs !== undefined) return policy;
  }
  return undefined;
}
