import { resultsOf, type Message } from '../thread/message.ts';
import type { Node } from '../thread/thread.ts';
import type { ToolPolicies, ToolPolicy } from './durability.ts';
import type { Hide } from './plan.ts';

/** The messages whose time to live is over, with what stands in for them (E1). */
export function expired(nodes: readonly Node[], tools: ToolPolicies, now: number): readonly Hide[] {
  const hides: Hide[] = [];
  for (const { id, message } of nodes) {
    const ttlMs = message.meta?.ttlMs ?? toolPolicy(message, tools)?.ttlMs;
    const time = message.meta?.time;
    if (ttlMs === undefined || time === undefined || now - time <= ttlMs) continue;
    hides.push({ id, replacement: replacementFor(message, tools) });
  }
  return hides;
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
