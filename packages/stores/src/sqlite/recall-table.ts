import type { MessageId, ThreadId } from '@bobbin/core';
import {
  assertNames,
  nearestVectors,
  rankTexts,
  tellingWords,
  type Found,
  type FoundInThread,
  type MessageVector,
  type Node,
  type Posting,
  type RecallIndex,
  type Scored,
  type TextSizes,
  type ThreadKey,
} from '@bobbin/core/internal';
import { indexMost } from '../index-parts.ts';
import { nodeOf, type MessageRow } from '../message-row.ts';
import type { Ancestry, Step } from './ancestry.ts';
import type { Database } from './database.ts';
import type { MessageTexts } from './message-texts.ts';
import { indexedWord, indexedWords } from './recall-text.ts';
import { idsOf, whereOf } from './thread-row.ts';
import type { SQLInputValue } from 'node:sqlite';

/** What was compacted, by words and by vectors. */
export class RecallTable implements RecallIndex {
  readonly #database: Database;
  readonly #ancestry: Ancestry;
  readonly #texts: MessageTexts;

  constructor(database: Database, ancestry: Ancestry, texts: MessageTexts) {
    this.#database = database;
    this.#ancestry = ancestry;
    this.#texts = texts;
  }

  /** Makes most of very many messages searchable before their plan is committed. */
  addMost(key: ThreadKey, ids: readonly MessageId[]): Promise<void> {
    return indexMost(ids, (part) => this.#database.atomically(() => this.add(key, part)));
  }

  /** Makes messages searchable, each once. To be called in a transaction. */
  add(key: ThreadKey, ids: readonly MessageId[]): void {
    const fresh = this.#database.all(
      `SELECT m.* FROM json_each(?3) span CROSS JOIN messages m ON m.tenant = ?1 AND m.thread = ?2 AND m.id = span.value
       WHERE NOT EXISTS (
         SELECT 1 FROM compacted c WHERE c.tenant = ?1 AND c.thread = ?2 AND c.id = span.value)`,
      ...idsOf(key),
      JSON.stringify(ids),
    ) as readonly NumberedRow[];
    let words = 0;
    for (const row of fresh) {
      const { message } = nodeOf(row, whereOf(this.#database.path, key));
      const { text, count } = indexedWords(key, message);
      this.#database.run(
        'INSERT INTO compacted (tenant, thread, id, number, words) VALUES (?, ?, ?, ?, ?)',
        ...idsOf(key),
        row.id,
        row.number,
        count,
      );
      this.#database.run('INSERT INTO recall (rowid, words) VALUES (?, ?)', row.number, text);
      words += count;
    }
    this.#database.run(
      'UPDATE threads SET compacted = compacted + ?, words = words + ? WHERE tenant = ? AND thread = ?',
      fresh.length,
      words,
      ...idsOf(key),
    );
  }

  /** Ranked among the thread's own messages: what others say of a word changes nothing. */
  async search(
    key: ThreadKey,
    words: readonly string[],
    most: number,
    head?: MessageId,
  ): Promise<readonly Found[]> {
    const sizes = this.#sizes('tenant = ? AND thread = ?', idsOf(key));
    if (sizes.texts === 0) return [];
    const held = words.map((word) => this.#held(key, word));
    const postings = tellingWords(held, sizes.texts).map((i) =>
      this.#posting(key, words[i] as string),
    );
    return this.#found(key, rankTexts(postings, sizes), 'number', most, head);
  }

  /** Ranked among all messages of the tenant. */
  async searchTenant(
    tenant: string,
    words: readonly string[],
    most: number,
  ): Promise<readonly FoundInThread[]> {
    assertNames(tenant);
    const threads = this.#database.all(
      'SELECT thread FROM threads WHERE tenant = ? AND compacted > 0',
      tenant,
    ) as readonly { thread: ThreadId }[];
    const postings = words.map((word) =>
      threads.flatMap(({ thread }) => this.#posting({ tenant, thread }, word)),
    );
    const ranked = rankTexts(postings, this.#sizes('tenant = ?', [tenant]));
    const found: FoundInThread[] = [];
    for (const { id, score } of ranked.slice(0, most)) {
      const row = this.#database.get('SELECT * FROM messages WHERE number = ?', id) as
        | (MessageRow & { thread: ThreadId })
        | undefined;
      if (row === undefined) continue;
      const [node] = await this.#texts.nodes([row], { tenant, thread: row.thread });
      found.push({ thread: row.thread, node: node as Node, score });
    }
    return found;
  }

  /** Takes the words of a thread out of the index. To be called in a transaction, before its messages are erased. */
  remove(key: ThreadKey): void {
    this.#database.run(
      'DELETE FROM recall WHERE rowid IN (SELECT number FROM compacted WHERE tenant = ? AND thread = ?)',
      ...idsOf(key),
    );
  }

  /** Writes the index again without the words that were taken out, in parts. */
  async purge(): Promise<void> {
    for (let changed = Infinity; changed > 1;) {
      changed = await this.#database.atomically(() =>
        this.#database.changesOf("INSERT INTO recall (recall, rank) VALUES ('merge', -500)"),
      );
    }
  }

  #sizes(where: string, values: readonly SQLInputValue[]): TextSizes {
    return this.#database.get(
      `SELECT coalesce(sum(compacted), 0) AS texts, coalesce(sum(words), 0) AS words FROM threads WHERE ${where}`,
      ...values,
    ) as TextSizes;
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
    return this.#texts.nodes(rows, key);
  }

  async keepVectors(
    key: ThreadKey,
    embedder: string,
    vectors: readonly MessageVector[],
  ): Promise<void> {
    await this.#database.atomically(() => {
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

  /** How many of a thread's messages have a word. */
  #held(key: ThreadKey, word: string): number {
    const row = this.#database.get(
      'SELECT doc FROM recall_counts WHERE term = ?',
      indexedWord(key, word),
    ) as { doc: number } | undefined;
    return row?.doc ?? 0;
  }

  /** How often a word is in each of a thread's messages. */
  #posting(key: ThreadKey, word: string): Posting<number> {
    const rows = this.#database.all(
      `SELECT v.doc, v.times, c.words FROM (
         SELECT doc, count(*) AS times FROM recall_words WHERE term = ? GROUP BY doc) v
       CROSS JOIN compacted c ON c.number = v.doc`,
      indexedWord(key, word),
    ) as readonly { doc: number; times: number; words: number }[];
    return rows.map(({ doc, times, words }) => [doc, times, words] as const);
  }

  /** The best that are on the path to the head. */
  async #found(
    key: ThreadKey,
    scored: readonly Scored<number | string>[],
    column: 'number' | 'id',
    most: number,
    head: MessageId | undefined,
  ): Promise<readonly Found[]> {
    const end = head === undefined ? undefined : this.#ancestry.step(key, head);
    if (head !== undefined && end === undefined) return [];
    const sql = `SELECT * FROM messages WHERE tenant = ? AND thread = ? AND ${column} = ?`;
    const rows: MessageRow[] = [];
    const scores: number[] = [];
    for (const { id, score } of scored) {
      if (rows.length === most) break;
      const row = this.#database.get(sql, ...idsOf(key), id) as MessageRow | undefined;
      if (row === undefined || !this.#isOn(key, end, row)) continue;
      rows.push(row);
      scores.push(score);
    }
    const nodes = await this.#texts.nodes(rows, key);
    return nodes.map((node, i) => ({ node, score: scores[i] ?? 0 }));
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
