import type { MessageId, Plan } from '@bobbin/core';
import {
  nearestVectors,
  rankTexts,
  type Found,
  type MessageVector,
  type Node,
  type RecallIndex,
  type Scored,
  type ThreadKey,
} from '@bobbin/core/internal';
import { nodeOf, type MessageRow } from '../message-row.ts';
import type { Ancestry, Step } from './ancestry.ts';
import type { Database } from './database.ts';
import { indexedWord, indexedWords, wordCount } from './recall-text.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** What was compacted, by words and by vectors. */
export class RecallTable implements RecallIndex {
  readonly #database: Database;
  readonly #ancestry: Ancestry;

  constructor(database: Database, ancestry: Ancestry) {
    this.#database = database;
    this.#ancestry = ancestry;
  }

  /** Makes what a plan compacts searchable, each message once. To be called in the plan's transaction. */
  add(key: ThreadKey, plan: Plan): void {
    const fresh = this.#database.all(
      `SELECT m.* FROM json_each(?3) span CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = span.value
       WHERE NOT EXISTS (
         SELECT 1 FROM compacted c WHERE c.tenant = ?1 AND c.thread = ?2 AND c.id = span.value)`,
      ...idsOf(key),
      JSON.stringify([...new Set(plan.records.flatMap(({ span }) => span.ids))]),
    ) as readonly NumberedRow[];
    for (const row of fresh) {
      nodeOf(row, whereOf(this.#database.path, key));
      this.#database.run(
        'INSERT INTO compacted (tenant, thread, id, number, words) VALUES (?, ?, ?, ?, ?)',
        ...idsOf(key),
        row.id,
        row.number,
        wordCount(row.message),
      );
      this.#database.run(
        'INSERT INTO recall (rowid, words) VALUES (?, ?)',
        row.number,
        indexedWords(key, row.message),
      );
    }
  }

  /** Ranked among the thread's own messages: what others say of a word changes nothing. */
  async search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const lengths = new Map<number, number>();
    let total = 0;
    const rows = this.#database.all(
      'SELECT number, words FROM compacted WHERE tenant = ? AND thread = ?',
      ...idsOf(key),
    ) as readonly { number: number; words: number }[];
    for (const row of rows) {
      lengths.set(row.number, row.words);
      total += row.words;
    }
    const postings = words
      .map((word) => this.#posting(key, word, lengths))
      .filter(({ size }) => size > 0);
    return this.#found(key, rankTexts(postings, lengths, total), 'number', most, head);
  }

  async nearest(
    key: ThreadKey,
    embedder: string,
    vector: readonly number[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const rows = this.#database.all(
      'SELECT id, vector FROM vectors WHERE tenant = ? AND thread = ? AND embedder = ?',
      ...idsOf(key),
      embedder,
    ) as readonly { id: string; vector: Uint8Array }[];
    const vectors = rows.map(({ id, vector: bytes }) => [id, numbersOf(bytes)] as const);
    return this.#found(key, nearestVectors(vectors, vector), 'id', most, head);
  }

  async unembedded(key: ThreadKey, embedder: string, most: number): Promise<readonly Node[]> {
    const rows = this.#database.all(
      `SELECT m.* FROM compacted c CROSS JOIN messages m ON m.number = c.number
       WHERE c.tenant = ?1 AND c.thread = ?2 AND c.id NOT IN (
         SELECT id FROM vectors WHERE tenant = ?1 AND thread = ?2 AND embedder = ?3)
       ORDER BY c.number LIMIT ?4`,
      ...idsOf(key),
      embedder,
      most,
    ) as readonly MessageRow[];
    return rows.map((row) => nodeOf(row, whereOf(this.#database.path, key)));
  }

  async keepVectors(
    key: ThreadKey,
    embedder: string,
    vectors: readonly MessageVector[],
  ): Promise<void> {
    this.#database.atomically(() => {
      for (const { id, vector } of vectors)
        this.#database.run(
          `INSERT INTO vectors (tenant, thread, embedder, id, vector)
           SELECT tenant, thread, ?3, id, ?5 FROM compacted WHERE tenant = ?1 AND thread = ?2 AND id = ?4
           ON CONFLICT DO UPDATE SET vector = excluded.vector`,
          ...idsOf(key),
          embedder,
          id,
          new Uint8Array(Float32Array.from(vector).buffer),
        );
    });
  }

  /** How often a word stands in each of the thread's messages. */
  #posting(
    key: ThreadKey,
    word: string,
    own: ReadonlyMap<number, unknown>,
  ): ReadonlyMap<number, number> {
    const rows = this.#database.all(
      'SELECT doc, count(*) AS times FROM recall_words WHERE term = ? GROUP BY doc',
      indexedWord(key, word),
    ) as readonly { doc: number; times: number }[];
    return new Map(rows.filter(({ doc }) => own.has(doc)).map(({ doc, times }) => [doc, times]));
  }

  /** The best that stand on the path to the head. */
  #found(
    key: ThreadKey,
    scored: readonly Scored<number | string>[],
    column: 'number' | 'id',
    most: number,
    head: MessageId | undefined,
  ): readonly Found[] {
    const end = head === undefined ? undefined : this.#ancestry.step(key, head);
    if (head !== undefined && end === undefined) return [];
    const sql = `SELECT * FROM messages WHERE tenant = ? AND thread = ? AND ${column} = ?`;
    const found: Found[] = [];
    for (const { id, score } of scored) {
      if (found.length === most) break;
      const row = this.#database.get(sql, ...idsOf(key), id) as MessageRow | undefined;
      if (row === undefined || !this.#isOn(key, end, row)) continue;
      found.push({ node: nodeOf(row, whereOf(this.#database.path, key)), score });
    }
    return found;
  }

  #isOn(key: ThreadKey, end: Step | undefined, row: MessageRow): boolean {
    return end === undefined || this.#ancestry.at(key, end, row.position) === row.id;
  }
}

interface NumberedRow extends MessageRow {
  readonly number: number;
}

function numbersOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}
