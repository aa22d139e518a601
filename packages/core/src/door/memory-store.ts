import type {
  ArtifactMetadata,
  ArtifactStore,
  Requester,
  Store,
  StoredPlan,
  StoredWindow,
  ThreadKey,
} from '../ports.ts';
import type { CompactionEvent } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import { sha256 } from '../thread/sha256.ts';
import type { ArtifactId, MessageId } from '../thread/message.ts';
import type { Node } from '../thread/thread.ts';

interface ThreadRows {
  readonly nodes: Map<MessageId, Node>;
  readonly plans: Plan[];
  readonly events: CompactionEvent[];
  head: MessageId | undefined;
}

/** Keeps threads and plans in this process: the default, and the model that every other store is compared with. */
export function memoryStore(): Store {
  const threads = new Map<string, ThreadRows>();
  const rowsOf = (key: ThreadKey): ThreadRows | undefined =>
    threads.get(JSON.stringify([key.tenant, key.thread]));
  const path = (rows: ThreadRows, head: MessageId, from: number): readonly Node[] => {
    const nodes: Node[] = [];
    let node = rows.nodes.get(head);
    while (node !== undefined && node.index >= from) {
      nodes.push(node);
      node = node.parent === null ? undefined : rows.nodes.get(node.parent);
    }
    return nodes.toReversed();
  };
  return {
    async append(key, nodes) {
      const name = JSON.stringify([key.tenant, key.thread]);
      const rows = threads.get(name) ?? {
        nodes: new Map(),
        plans: [],
        events: [],
        head: undefined,
      };
      threads.set(name, rows);
      for (const node of nodes) if (!rows.nodes.has(node.id)) rows.nodes.set(node.id, node);
      rows.head = nodes.at(-1)?.id ?? rows.head;
    },
    async window(key, head) {
      const rows = rowsOf(key);
      const at = head ?? rows?.head;
      if (rows === undefined || at === undefined || !rows.nodes.has(at)) return undefined;
      const current = applicable(rows, at);
      const carried = (current?.plan.carried ?? []).flatMap(({ id }) => rows.nodes.get(id) ?? []);
      return {
        carried,
        tail: path(rows, at, current?.plan.start ?? 0),
        current,
      } satisfies StoredWindow;
    },
    async path(key, head, from = 0) {
      const rows = rowsOf(key);
      return rows === undefined ? [] : path(rows, head, from);
    },
    async plan(key, version) {
      const plan = rowsOf(key)?.plans[version - 1];
      return plan === undefined ? undefined : { plan, version };
    },
    async commit(key, plan, expectedVersion, events) {
      const rows = rowsOf(key);
      if (rows === undefined || rows.plans.length !== expectedVersion) return false;
      rows.plans.push(plan);
      rows.events.push(...events);
      return true;
    },
  };

  /** The newest plan that was made on the path to a head: a fork before a compaction does not know it. */
  function applicable(rows: ThreadRows, head: MessageId): StoredPlan | undefined {
    for (let version = rows.plans.length; version > 0; version--) {
      const plan = rows.plans[version - 1] as Plan;
      if (plan.head === null) return { plan, version };
      const at = rows.nodes.get(plan.head);
      if (at !== undefined && path(rows, head, at.index)[0]?.id === at.id) return { plan, version };
    }
    return undefined;
  }
}

/** Keeps artifacts in this process. */
export function memoryArtifacts(): ArtifactStore {
  const artifacts = new Map<string, { content: string; metadata: ArtifactMetadata }>();
  const find = (id: ArtifactId, requester: Requester) => {
    const found = artifacts.get(`${requester.tenant}\n${id}`);
    const needed = found?.metadata.permissions;
    const allowed =
      needed === undefined || needed.some((name) => requester.permissions?.includes(name) ?? false);
    return allowed ? found : undefined;
  };
  return {
    async put(content, metadata) {
      const id = sha256(content).slice(0, 32) as ArtifactId;
      const name = `${metadata.tenant}\n${id}`;
      if (!artifacts.has(name)) artifacts.set(name, { content, metadata });
      return id;
    },
    metadata: async (id, requester) => find(id, requester)?.metadata,
    get: async (id, requester) => find(id, requester)?.content,
  };
}
