import type { MessageId, Store } from '@bobbin/core';
import {
  jsonText,
  type StoredEvent,
  type ThreadEntry,
  type ThreadKey,
} from '@bobbin/core/internal';
import { StoreError } from './store-error.ts';
import { threadsOf } from './threads-of.ts';
import { verifyThread, type ThreadProblem } from './verify-store.ts';

/** What was copied; which threads were not, and what a verification of every hash found wrong in the copy. */
export interface Copied {
  readonly threads: number;
  readonly messages: number;
  readonly plans: number;
  readonly problems: readonly ThreadProblem[];
}

/**
 * Copies all threads of some tenants, or of all, with every fork, plan and event. A copy that was broken off can be
 * repeated: what is there is not copied again. A thread that went on in the target is left as it is there, and is
 * reported as a problem. Vectors are not copied: an embedder makes them again. Artifacts are not in a store and are not
 * copied.
 */
export async function copyStore(
  from: Store,
  to: Store,
  tenants?: readonly string[],
): Promise<Copied> {
  const count = { threads: 0, messages: 0, plans: 0 };
  const problems: ThreadProblem[] = [];
  for (const tenant of tenants ?? (await from.tenants())) {
    for await (const entry of threadsOf(from, tenant)) {
      const key = { tenant, thread: entry.thread };
      const result = await copiedOrWhyNot(() => copyThread(from, to, key, entry));
      const found =
        typeof result === 'string' ? [result] : await copyProblems(to, key, entry, result);
      for (const problem of found) problems.push({ tenant, thread: entry.thread, problem });
      if (typeof result === 'string') continue;
      count.threads += 1;
      count.messages += result.size;
      count.plans += entry.version;
    }
  }
  return { ...count, problems };
}

/** A thread that is damaged or refused keeps no other from being copied; a store that cannot be reached does. */
async function copiedOrWhyNot<T>(copy: () => Promise<T>): Promise<T | string> {
  try {
    return await copy();
  } catch (error) {
    if (!(error instanceof StoreError) || error.problem === 'unavailable') throw error;
    return error.message;
  }
}

/** Copies what the thread was when it was listed; it may go on meanwhile. Returns the messages that it has. */
async function copyThread(
  from: Store,
  to: Store,
  key: ThreadKey,
  entry: ThreadEntry,
): Promise<ReadonlySet<MessageId>> {
  const events = upTo(await from.events(key), entry.version);
  const there = await begun(from, to, key, entry, events);
  const ids = new Set<MessageId>();
  for await (const nodes of from.nodes(key)) {
    for (const { id } of nodes) ids.add(id);
    await to.append(key, nodes);
  }
  await to.append(key, await from.path(key, entry.head, entry.length - 1));
  let left = events.slice(there.events);
  for (let next = there.version + 1; next <= entry.version; next++) {
    const plan = await from.plan(key, next);
    if (plan === undefined)
      throw new StoreError('damaged', `thread ${key.thread} of ${key.tenant} lacks plan ${next}`);
    const first = left.findIndex(({ version }) => version === next);
    const before = first === -1 ? [] : left.slice(0, first);
    const own = left.filter(({ version }) => version === next);
    await to.record(key, bare(before));
    if (!(await to.commit(key, plan.plan, next - 1, bare(own)))) throw wentOn(key, 'a newer plan');
    left = left.slice(before.length + own.length);
  }
  await to.record(key, bare(left));
  return ids;
}

/** How much of a thread is there from a copy before; refused if it holds anything that this thread has not. */
async function begun(
  from: Store,
  to: Store,
  key: ThreadKey,
  entry: ThreadEntry,
  events: readonly StoredEvent[],
): Promise<{ version: number; events: number }> {
  const window = await to.window(key);
  if (window === undefined) return { version: 0, events: 0 };
  const [head] = await to.heads(key);
  const at = window.tail.at(-1)?.index ?? 0;
  if (head !== undefined && (await from.path(key, head, at)).length === 0)
    throw wentOn(key, `message ${head}`);
  if (window.version > entry.version) throw wentOn(key, `plan ${window.version}`);
  for (let version = 1; version <= window.version; version++) {
    const [ours, theirs] = [await from.plan(key, version), await to.plan(key, version)];
    if (jsonText(ours) !== jsonText(theirs)) throw wentOn(key, `another plan ${version}`);
  }
  const known = await to.events(key);
  const other = known.find((event, i) => jsonText(event) !== jsonText(events[i]));
  if (other !== undefined) throw wentOn(key, `another event ${other.sequence}`);
  return { version: window.version, events: known.length };
}

/** The events that came before a plan that is newer than what is copied. */
function upTo(events: readonly StoredEvent[], version: number): readonly StoredEvent[] {
  const newer = events.findIndex((event) => event.version > version);
  return newer === -1 ? events : events.slice(0, newer);
}

async function copyProblems(
  to: Store,
  key: ThreadKey,
  entry: ThreadEntry,
  ids: ReadonlySet<MessageId>,
): Promise<readonly string[]> {
  const verdict = await verifyThread(to, key, entry);
  const missing = [...ids].filter((id) => !verdict.ids.has(id));
  return [...verdict.problems, ...missing.map((id) => `message ${id} was not copied`)];
}

function wentOn({ tenant, thread }: ThreadKey, what: string): StoreError {
  return new StoreError(
    'damaged',
    `thread ${thread} of ${tenant} is not copied: it went on in the other store, which has ${what}`,
  );
}

function bare(events: readonly StoredEvent[]): readonly StoredEvent['event'][] {
  return events.map(({ event }) => event);
}
