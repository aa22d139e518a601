import type { MessageId, Plan, Store } from '@bobbin/core';
import {
  messageId,
  startsTurn,
  type Node,
  type ThreadEntry,
  type ThreadKey,
} from '@bobbin/core/internal';
import { StoreError } from './store-error.ts';
import { threadsOf } from './threads-of.ts';

/** Something in a store that is not what was written; without a thread if it concerns the store as a whole. */
export interface ThreadProblem {
  readonly tenant?: string;
  readonly thread?: string;
  readonly problem: string;
}

/** A store that can check its own file and indexes in addition to the threads. */
export interface CheckableStore extends Store {
  /** In words what is wrong. */
  check(): Promise<readonly string[]>;
}

export interface StoreVerdict {
  readonly threads: number;
  readonly messages: number;
  readonly plans: number;
  readonly problems: readonly ThreadProblem[];
}

/** Checks every hash, place and reference in the threads of some tenants, or of all; and what the store is kept in. */
export async function verifyStore(
  store: Store,
  tenants?: readonly string[],
): Promise<StoreVerdict> {
  const problems: ThreadProblem[] = [];
  if (isCheckable(store)) for (const problem of await store.check()) problems.push({ problem });
  const count = { threads: 0, messages: 0, plans: 0 };
  const listed = tenants ?? (await listTenants(store, problems));
  for (const tenant of listed) {
    const unlisted: string[] = [];
    await checked(unlisted, async () => {
      for await (const entry of threadsOf(store, tenant)) {
        const found = await verifyThread(store, { tenant, thread: entry.thread }, entry);
        count.threads += 1;
        count.messages += found.ids.size;
        count.plans += entry.version;
        for (const problem of found.problems)
          problems.push({ tenant, thread: entry.thread, problem });
      }
    });
    for (const problem of unlisted) problems.push({ tenant, problem });
  }
  return { ...count, problems };
}

/** A damaged file may not even say whose threads it has. */
async function listTenants(store: Store, problems: ThreadProblem[]): Promise<readonly string[]> {
  const unlisted: string[] = [];
  let listed: readonly string[] = [];
  await checked(unlisted, async () => {
    listed = await store.tenants();
  });
  problems.push(...unlisted.map((problem) => ({ problem })));
  return listed;
}

function isCheckable(store: Store): store is CheckableStore {
  return 'check' in store;
}

/** What of a node its children need; contents are not held, so that any thread can be verified. */
type Place = Pick<Node, 'index' | 'turn'>;

/** What of a thread is as it was written, and in words what is not. */
export interface ThreadVerdict {
  readonly ids: ReadonlySet<MessageId>;
  readonly problems: readonly string[];
}

/** Checks one thread. What cannot be read is a problem like any other: the rest is still checked. */
export async function verifyThread(
  store: Store,
  key: ThreadKey,
  entry: ThreadEntry,
): Promise<ThreadVerdict> {
  const places = new Map<MessageId, Place>();
  const problems: string[] = [];
  const isWhole = await checked(problems, () => verifyNodes(store, key, places, problems));
  if (isWhole && places.get(entry.head)?.index !== entry.length - 1)
    problems.push(`its head ${entry.head} is not at index ${entry.length - 1}`);
  for (let version = 1; version <= entry.version; version++) {
    await checked(problems, async () => {
      const stored = await store.plan(key, version);
      if (stored === undefined) problems.push(`plan ${version} is missing`);
      else if (isWhole) problems.push(...planProblems(stored.plan, version, places));
    });
  }
  await checked(problems, () => store.events(key));
  return { ids: new Set(places.keys()), problems: [...new Set(problems)] };
}

async function verifyNodes(
  store: Store,
  key: ThreadKey,
  places: Map<MessageId, Place>,
  problems: string[],
): Promise<void> {
  for await (const nodes of store.nodes(key)) {
    for (const node of nodes) {
      problems.push(...nodeProblems(node, places));
      places.set(node.id, { index: node.index, turn: node.turn });
    }
  }
}

/** Does some work, and notes what is damaged; an unreachable store is not a finding. */
async function checked(problems: string[], work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof StoreError) || error.problem === 'unavailable') throw error;
    problems.push(error.message);
    return false;
  }
}

function nodeProblems(node: Node, places: ReadonlyMap<MessageId, Place>): readonly string[] {
  const { id, parent, message } = node;
  const before = parent === null ? { index: -1, turn: 0 } : places.get(parent);
  const problems: string[] = [];
  if (messageId(parent, message) !== id)
    problems.push(
      `message ${id} is not what was appended: its hash is ${messageId(parent, message)}`,
    );
  if (before === undefined) problems.push(`message ${id} has no parent ${parent}`);
  else {
    const turn = before.turn + Number(startsTurn(message));
    if (node.index !== before.index + 1 || node.turn !== turn)
      problems.push(
        `message ${id} is at index ${node.index} of turn ${node.turn}, not ${before.index + 1} of ${turn}`,
      );
  }
  return problems;
}

function planProblems(
  plan: Plan,
  version: number,
  places: ReadonlyMap<MessageId, Place>,
): readonly string[] {
  const named = [
    ...(plan.head === null ? [] : [plan.head]),
    ...plan.carried.map(({ id }) => id),
    ...plan.records.flatMap(({ span }) => span.ids),
    ...plan.hides.map(({ id }) => id),
  ];
  return named
    .filter((id) => !places.has(id))
    .map((id) => `plan ${version} names message ${id}, which is not there`);
}
