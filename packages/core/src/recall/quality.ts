import { lastIndex, lastOf } from '../check/list.ts';
import type { Store, ThreadKey } from '../ports.ts';
import { callsOf, startsTurn, textOf, type Message } from '../message/message.ts';
import { READ_ARTIFACT_TOOL } from './read-artifact.ts';
import { RECALL_TOOL } from './recall.ts';

/** How well an agent goes on after a compaction. */
export interface Quality {
  readonly turnsSinceCompaction: number;
  /** How often the agent said that it lacks something which was said before. */
  readonly askedForContext: number;
  /** Calls of `read_artifact` and `recall`, and what was brought back without one. */
  readonly rehydrationRequests: number;
  /** What the host said of the task, if it did. */
  readonly taskCompleted?: boolean;
}

/** The canary: an agent that asks for what it already read. English is enough for a trend. */
const ASKS_AGAIN =
  /\b(remind me|(can|could|would) you (please )?(repeat|re-?send|paste|share|provide|tell me)\b[^.?!]{0,60}\bagain|(do not|don't|no longer) (have|see|recall|remember)\b[^.?!]{0,60}\b(earlier|previous|conversation|context|you (mentioned|said|shared))|what (was|were) (the|your)\b[^.?!]{0,60}\bagain)/i;

/** Read from what a store has recorded since the last compaction of a thread; undefined if there was none. */
export async function qualityOf(store: Store, key: ThreadKey): Promise<Quality | undefined> {
  const window = await store.window(key);
  const current = window?.current;
  if (window === undefined || current === undefined) return undefined;
  const since = window.tail.filter(({ index }) => index >= current.plan.threadVersion);
  const messages = since.map(({ message }) => message);
  const events = await store.events(key);
  const last = lastIndex(events, ({ version }) => version === current.version);
  // A plan that was committed without events, such as one that pins, is known by its time.
  const after = events
    .slice(last + 1)
    .map(({ event }) => event)
    .filter(({ time }) => last >= 0 || time >= current.plan.createdAt);
  const finished = lastOf(after, (event) => event.kind === 'task-finished');
  return {
    turnsSinceCompaction: messages.filter(startsTurn).length,
    askedForContext: messages.filter(asksAgain).length,
    rehydrationRequests:
      messages.reduce((sum, message) => sum + requests(message), 0) +
      after.filter(({ kind }) => kind === 'rehydrated').length,
    ...(finished === undefined ? {} : { taskCompleted: finished.completed }),
  };
}

function asksAgain(message: Message): boolean {
  return message.role === 'assistant' && ASKS_AGAIN.test(textOf(message).slice(0, 4_000));
}

function requests(message: Message): number {
  return callsOf(message).filter(
    ({ tool }) => tool === READ_ARTIFACT_TOOL.name || tool === RECALL_TOOL.name,
  ).length;
}
