import type { MessageId, ThreadId } from '@bobbin/core';
import {
  assertNames,
  nearestVectors,
  searchText,
  wordsOf,
  type Found,
  type FoundInThread,
  type MessageVector,
  type Node,
  type RecallIndex,
  type ThreadKey,
} from '@bobbin/core/internal';
import type { MessageRow } from '../message-row.ts';
import type { Connection, Value } from './connection.ts';
import { tsqueries, tsvector } from './full-text.ts';
import type { MessageTexts } from './message-texts.ts';
import { idsOf } from './thread-row.ts';

/** A message as the index keeps it: its different words, and how many words it has. */
export function searchable({ message }: Node): { words: string; length: number } {
  const words = wordsOf(searchText(message));
  return { words: tsvector(words), length: words.length };
}

/** What was compacted, by words and by vectors. */
export class RecallQueries implements RecallIndex {
  readonly #connection: Connection;
  readonly #replica: Connection;
  readonly #texts: MessageTexts;

  constructor(connection: Connection, replica: Connection, texts: MessageTexts) {
    this.#connection = connection;
    this.#replica = replica;
    this.#texts = texts;
  }

  async search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const found = await this.#search(this.#connection, key, words, most, head ?? null);
    return found.map(({ node, score }) => ({ node, score }));
  }

  async searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]> {
    return this.#search(this.#replica, { tenant }, words, most, null);
  }

  async nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const rows = (await this.#connection.askAs(
      key.tenant,
      'SELECT id, vector FROM bobbin.vectors WHERE tenant = $1 AND thread = $2 AND embedder = $3',
      ...idsOf(key),
      embedder,
    )) as readonly { id: MessageId; vector: Uint8Array }[];
    const vectors = rows.map((row) => [row.id, numbersOf(row.vector)] as const);
    const scored = nearestVectors(vectors, vector);
    const scores = new Map(scored.map(({ id, score }) => [id, score]));
    const nodes = await this.#nodes(
      key,
      'SELECT * FROM bobbin.first_on_path($1, $2, $3, $4, $5)',
      ...idsOf(key),
      scored.map(({ id }) => id),
      most,
      head ?? null,
    );
    return nodes.map((node) => ({ node, score: scores.get(node.id) ?? 0 }));
  }

  async unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    return this.#nodes(
      key,
      'SELECT * FROM bobbin.not_embedded($1, $2, $3, $4)',
      ...idsOf(key),
      embedder,
      most,
    );
  }

  async keepVectors(
    key: ThreadKey,
    embedder: string,
    vectors: readonly MessageVector[],
  ): Promise<void> {
    if (vectors.length === 0) return;
    await this.#connection.askAs(
      key.tenant,
      `INSERT INTO bobbin.vectors (tenant, thread, embedder, id, vector)
       SELECT $1, $2, $3, v.id, decode(v.vector, 'hex') FROM unnest($4::text[], $5::text[]) AS v (id, vector)
       WHERE (SELECT 1 FROM bobbin.recall r WHERE r.tenant = $1 AND r.thread = $2 AND r.id = v.id LIMIT 1) = 1
       ON CONFLICT (tenant, thread, embedder, id) DO UPDATE SET vector = excluded.vector`,
      ...idsOf(key),
      embedder,
      vectors.map(({ id }) => id),
      vectors.map(({ vector }) => Buffer.from(Float32Array.from(vector).buffer).toString('hex')),
    );
  }

  async #search(
    connection: Connection,
    { tenant, thread }: { readonly tenant: string; readonly thread?: ThreadId },
    words: readonly string[],
    most: number,
    head: MessageId | null,
  ): Promise<readonly FoundInThread[]> {
    assertNames(tenant, thread ?? '');
    const queries = tsqueries(words);
    if (queries.length === 0) return [];
    const rows = (await connection.ask(
      'SELECT * FROM bobbin.search($1, $2, $3, $4, $5)',
      tenant,
      thread ?? null,
      queries,
      most,
      head,
    )) as readonly (MessageRow & { thread: ThreadId; score: number })[];
    return Promise.all(
      rows.map(async (row) => {
        const [node] = await this.#texts.nodes([row], { tenant, thread: row.thread });
        return { thread: row.thread, node: node as Node, score: row.score };
      }),
    );
  }

  async #nodes(
    key: ThreadKey,
    query: string,
    ...values: readonly Value[]
  ): Promise<readonly Node[]> {
    const rows = (await this.#connection.ask(query, ...values)) as readonly MessageRow[];
    return this.#texts.nodes(rows, key);
  }
}

function numbersOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
