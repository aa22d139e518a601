import type { MessageId, Store } from '@bobbin/core';
import {
  queryWords,
  type ArtifactId,
  type Found,
  type Node,
  type ThreadKey,
} from '@bobbin/core/internal';

/** All that a store says of a thread, in an order that every store gives: to be compared as one value. */
export async function everything(
  store: Store,
  key: ThreadKey,
  heads: readonly MessageId[],
): Promise<unknown> {
  const listed = (await store.threads(key.tenant, 10_000)).find(
    ({ thread }) => thread === key.thread,
  );
  // Each store has its own clock.
  const entry = listed && { ...listed, changedAt: listed.changedAt > 0 };
  const [latest, ...otherHeads] = await store.heads(key);
  const plans = [];
  for (let version = 0; version <= (entry?.version ?? 0) + 1; version++)
    plans.push(await store.plan(key, version));
  const paths = [];
  for (const head of heads) {
    paths.push({
      window: await store.window(key, head),
      path: await store.path(key, head),
      end: await store.path(key, head, 3),
      turns: await store.turns(key, head),
      found: idsOf(await store.search(key, queryWords('spool rare'), 1_000, head)),
      nearest: idsOf(await store.nearest(key, 'e', [1, 0.5], 1_000, head)),
    });
  }
  return {
    some: await store.messages(key, [...heads, 'f'.repeat(32) as MessageId, ...heads.slice(0, 1)]),
    entry,
    latest,
    otherHeads: otherHeads.toSorted(),
    window: await store.window(key),
    nodes: await allNodes(store, key),
    plans,
    paths,
    events: await store.events(key),
    laterEvents: await store.events(key, 1),
    found: idsOf(await store.search(key, queryWords('spool rare'), 1_000)),
    artifacts: await allArtifacts(store, key.tenant),
    unembedded: (await store.unembedded(key, 'e', 1_000)).map(({ id }) => id).toSorted(),
    nearest: idsOf(await store.nearest(key, 'e', [1, 0.5], 1_000)),
  };
}

async function allArtifacts(store: Store, tenant: string): Promise<readonly ArtifactId[]> {
  const all = new Set<ArtifactId>();
  for await (const ids of store.artifacts(tenant)) for (const id of ids) all.add(id);
  return [...all].toSorted();
}

function idsOf(found: readonly Found[]): readonly MessageId[] {
  return found.map(({ node }) => node.id).toSorted();
}

/** Every node of a thread, by place. */
export async function allNodes(store: Store, key: ThreadKey): Promise<readonly Node[]> {
  const nodes: Node[] = [];
  for await (const some of store.nodes(key)) nodes.push(...some);
  return nodes.toSorted((a, b) => a.index - b.index || (a.id < b.id ? -1 : 1));
}

/** What every call gives for a thread that is not there. */
export const ABSENT: Absent = {
  some: [],
  entry: undefined,
  latest: undefined,
  otherHeads: [],
  window: undefined,
  nodes: [],
  plans: [undefined, undefined],
  paths: [{ window: undefined, path: [], end: [], turns: [], found: [], nearest: [] }],
  events: [],
  laterEvents: [],
  found: [],
  artifacts: [],
  unembedded: [],
  nearest: [],
};

interface Absent {
  readonly plans: readonly undefined[];
  readonly paths: readonly Readonly<Record<string, unknown>>[];
  readonly [answer: string]: unknown;
}
