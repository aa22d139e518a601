import type { CompactorConfig } from '../compact/compaction.ts';
import {
  callsOf,
  resultsOf,
  type CallPart,
  type Message,
  type MessageId,
} from '../message/message.ts';
import { captureDeterminism, expires, type ToolPolicies } from '../plan/tool-policy.ts';
import type { Node, Thread } from '../thread/thread.ts';
import type { Clock, ThreadKey } from '../ports.ts';
import type { SessionConfig } from './config/session-config.ts';
import type { SessionState } from './state/state.ts';

/** How far before a result its call is looked for, in messages. */
const CALL_REACH = 64;

/** Messages with what has to be known from the moment of their arrival: its time, and how replayable sources look. */
async function arrived(
  messages: readonly Message[],
  thread: Thread,
  { tools, clock }: CompactorConfig,
): Promise<readonly Message[]> {
  return Promise.all(
    messages.map(async (message, i) => {
      const timed =
        expires(message, tools) && message.meta?.time === undefined
          ? { ...message, meta: { ...message.meta, time: clock.now() } }
          : message;
      return withSources(timed, callFinder(thread, messages, i), tools);
    }),
  );
}

async function withSources(
  message: Message,
  callOf: (callId: string) => CallPart | undefined,
  tools: ToolPolicies,
): Promise<Message> {
  const results = resultsOf(message);
  if (results.length === 0) return message;
  const sources = await captureDeterminism(results, callOf, tools);
  return Object.keys(sources).length === 0
    ? message
    : { ...message, meta: { ...message.meta, sources } };
}

/** Finds the call that a result answers: it is close before it, among the new messages or on the path. */
function callFinder(
  thread: Thread,
  messages: readonly Message[],
  position: number,
): (callId: string) => CallPart | undefined {
  return (callId) => {
    for (let back = 1; back <= CALL_REACH; back++) {
      const at = position - back;
      const message = at >= 0 ? messages[at] : thread.at(thread.length + at)?.message;
      const call = message && callsOf(message).find((each) => each.callId === callId);
      if (call !== undefined) return call;
    }
    return undefined;
  };
}

/** Stores messages at the end of a thread, and returns them as its nodes. */
export async function storedNodes(
  messages: readonly Message[],
  { store, singleWriter }: SessionConfig<unknown>,
  { key, config, thread }: SessionState,
): Promise<readonly Node[]> {
  const isPlain = messages.every(({ meta }) => meta?.ttlMs === undefined);
  const hasPolicies = Object.keys(config.tools).length > 0;
  const noted = isPlain && !hasPolicies ? messages : await arrived(messages, thread, config);
  const nodes: Node[] = [];
  await inParts(noted, config.clock, (part) => {
    for (const node of thread.nodesFor(part, nodes.at(-1))) nodes.push(node);
  });
  const expectedHead = thread.head?.id ?? null;
  const appending = await store.append(key, nodes, singleWriter ? { expectedHead } : {});
  if (appending.kind === 'conflict') throw otherWriter(key, appending.head);
  return nodes;
}

function otherWriter({ thread }: ThreadKey, head: MessageId | null): Error {
  return new Error(
    `thread ${thread}: another writer has appended ${head ?? 'nothing'}; open the thread again, then append`,
  );
}

/** Few enough to be worked through in a moment, many enough that the pauses between cost little. */
const AT_ONCE = 500;

/** Works through a list in parts with pauses between them, so that a process goes on with its other work meanwhile. */
export async function inParts<Item>(
  items: readonly Item[],
  clock: Clock,
  work: (part: readonly Item[]) => unknown,
): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) {
    if (from > 0) await clock.pause?.();
    work(items.slice(from, from + AT_ONCE));
  }
}
