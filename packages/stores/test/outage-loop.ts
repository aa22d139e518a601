import assert from 'node:assert/strict';
import { textMessage, type MessageId, type Store } from '@bobbin/core';
import type { Node, ThreadKey } from '@bobbin/core/internal';
import { freshKey, nodesOf } from '../src/conformance/sample.ts';

interface Line {
  readonly key: ThreadKey;
  readonly nodes: readonly Node[];
}

/**
 * Writers append to threads of their own while something is done to the server. Every append is acknowledged in the end,
 * and all that was acknowledged is there. Returns the figures.
 */
export async function writeThrough(
  store: Store,
  writers: number,
  disturb: () => Promise<number>,
): Promise<string> {
  const done = new AbortController();
  let slowest = 0;
  const lines = Array.from({ length: writers }, async (_, writer): Promise<Line> => {
    const key = freshKey(`writer-${writer}`, 'outage');
    const nodes: Node[] = [];
    while (!done.signal.aborted) {
      const next = nodesOf([textMessage('user', `message ${nodes.length}`)], nodes.slice(-1));
      const started = performance.now();
      const expectedHead = nodes.at(-1)?.id ?? null;
      assert.deepEqual(await store.append(key, next, { expectedHead }), { kind: 'appended' });
      slowest = Math.max(slowest, performance.now() - started);
      nodes.push(...next);
    }
    return { key, nodes };
  });
  const losses = await disturb();
  done.abort();
  let [acknowledged, lost] = [0, 0];
  for (const { key, nodes } of await Promise.all(lines)) {
    const there = await store.path(key, nodes.at(-1)?.id as MessageId);
    const ids = new Set(there.map(({ id }) => id));
    acknowledged += nodes.length;
    lost += nodes.filter(({ id }) => !ids.has(id)).length;
    assert.deepEqual(await store.heads(key), [nodes.at(-1)?.id], 'one line of history');
  }
  assert.equal(lost, 0);
  return `${losses} losses, ${acknowledged} acknowledged appends, ${lost} lost, slowest ${slowest.toFixed(0)} ms`;
}
