import type { Plan } from '@bobbin/core';
import {
  emptyPlan,
  holdsReasoning,
  PromptBuilder,
  type Node,
  type PromptMessage,
} from '@bobbin/core/internal';
import { isDeepStrictEqual } from 'node:util';
import { messageLine } from '../prompt-lines.ts';
import { withoutMeta, type Breach, type Scene } from './scene.ts';

/**
 * If a provider binds signed reasoning to the bytes before it, a signed block is sent only after the very prompt that
 * it was written for: the one that went out, if it is known, or that of the plan in force when its message came, up to
 * that message.
 */
export function* signedReasoning(scene: Scene): Iterable<Breach> {
  const { whole, plan, thread, context } = scene;
  if (!context.rules.bindsReasoning) return;
  const law = 'signed reasoning only after its own prefix';
  const old: Node[] = [];
  for (const { source, message } of whole.messages) {
    if (source.kind !== 'kept' && source.kind !== 'changed') continue;
    const node = thread.get(source.id);
    if (node === undefined || !isSigned(message)) continue;
    if (!holdsReasoning(plan, node.index))
      yield { law, detail: `the plan releases message ${node.index}` };
    const sent = context.sent?.findLast(({ length }) => length === node.index);
    if (sent !== undefined && !isPrefix(sent.messages, whole.messages))
      yield { law, detail: `not after what was sent: message ${node.index}` };
    if (sent === undefined && node.index < plan.threadVersion) old.push(node);
  }
  for (const [writtenUnder, nodes] of byPlan(scene, old)) {
    const broken = firstBroken(scene, writtenUnder, nodes);
    if (broken !== undefined)
      yield { law, detail: `message ${broken.index}: ${messageLine(broken.message)}` };
  }
}

function isSigned(message: Node['message']): boolean {
  return message.parts.some((part) => part.kind === 'reasoning' && part.signature !== undefined);
}

/** The plan in force at a length of the path is the last that was made before. */
function byPlan({ thread, plan, context }: Scene, nodes: readonly Node[]): Map<Plan, Node[]> {
  const plans = [emptyPlan(thread.id, plan.style), ...(context.earlier ?? []), plan];
  const found = new Map<Plan, Node[]>();
  for (const node of nodes) {
    const force = plans.findLast(({ threadVersion }) => threadVersion <= node.index);
    if (force !== undefined) found.set(force, [...(found.get(force) ?? []), node]);
  }
  return found;
}

/** The first of some messages, in path order, before which the prompt is no longer what it was. */
function firstBroken(scene: Scene, plan: Plan, nodes: readonly Node[]): Node | undefined {
  const { thread, prompt, context } = scene;
  const builder = new PromptBuilder(thread.window(plan, plan.threadVersion), plan, context);
  let length = plan.threadVersion;
  for (const node of nodes) {
    for (; length < node.index; length++) builder.push(thread.at(length) as Node);
    if (!isPrefix(builder.messages, prompt.messages)) return node;
  }
  return undefined;
}

function isPrefix(before: readonly PromptMessage[], now: readonly PromptMessage[]): boolean {
  return before.every(({ message }, i) => {
    const other = now[i]?.message;
    return other !== undefined && isDeepStrictEqual(withoutMeta(message), withoutMeta(other));
  });
}
