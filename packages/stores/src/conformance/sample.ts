import {
  textMessage,
  type CompactionEvent,
  type Message,
  type MessageId,
  type Plan,
  type ThreadId,
} from '@bobbin/core';
import {
  emptyPlan,
  spanOf,
  Thread,
  type DropRecord,
  type Node,
  type ThreadKey,
} from '@bobbin/core/internal';

/** A key that no other test uses. */
export function freshKey(name: string, tenant: string = 'acme'): ThreadKey {
  return { tenant, thread: `${name}-${crypto.randomUUID()}` as ThreadId };
}

/** Turns of a question and an answer, as nodes of one path. */
export function talk(turns: number, topic: string = 'spool'): readonly Node[] {
  const messages: Message[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    messages.push(textMessage('user', `question ${turn} about the ${topic}`));
    messages.push(textMessage('assistant', `answer ${turn}: the ${topic} holds`));
  }
  return nodesOf(messages);
}

/** Messages after some nodes, in their places. */
export function nodesOf(
  messages: readonly Message[],
  before: readonly Node[] = [],
): readonly Node[] {
  const thread = Thread.resume('any' as ThreadId, [], before);
  return messages.map((message) => thread.append(message));
}

/** A plan that drops a path's messages before an index, except those it carries. */
export function dropPlan(
  key: ThreadKey,
  path: readonly Node[],
  start: number,
  carried: readonly Node[] = [],
): Plan {
  const kept = new Set<MessageId>(carried.map(({ id }) => id));
  const span = spanOf(path.filter(({ id, index }) => index < start && !kept.has(id)));
  const record: readonly DropRecord[] =
    span === undefined
      ? []
      : [
          {
            kind: 'drop',
            span,
            reason: 'a test',
            index: { keywords: ['spool'], description: 'turns', time: 1 },
          },
        ];
  return {
    ...emptyPlan(key.thread),
    head: path.at(-1)?.id ?? null,
    threadVersion: path.length,
    createdAt: 17,
    policy: 'test',
    start,
    carried: carried.map(({ id, index }) => ({ id, index })),
    records: record,
    tokensBefore: 100,
    tokensAfter: 40,
  };
}

export function warning(message: string): CompactionEvent {
  return {
    kind: 'warning',
    message,
    thread: 'sample' as ThreadId,
    time: 1,
    tokensBefore: 2,
    tokensAfter: 3,
    limitTokens: 4,
  };
}

/** A small generator of numbers, the same for one seed (mulberry32). */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
