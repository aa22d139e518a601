import { textMessage, type Message } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import { newSessionId } from './session-id.ts';

/**
 * Changes to a new session that begins as this one did up to a message. A compaction that was made before that message
 * comes along; one that was made after it does not, so that branching before a compaction undoes it.
 */
export async function branchTo(
  agent: Agent,
  upTo: Node,
  last: Message = upTo.message,
): Promise<string> {
  const { store, key } = agent.session;
  const path = await store.path(key, upTo.id);
  const window = await store.window(key, upTo.id);
  const id = newSessionId(agent.options.clock.now());
  await agent.enter(id);
  const { handle } = agent.session;
  await handle.appendDecoded([...path.slice(0, -1).map(({ message }) => message), last]);
  const plan = window?.current?.plan;
  if (plan !== undefined) await handle.takeOver(plan, path.length - 1);
  agent.tellSession();
  return id;
}

/** A message with other words in its place. */
export function reworded({ message }: Node, text: string): Message {
  return textMessage(message.role, text, message.meta);
}
