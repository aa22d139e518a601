import type { CompactionEvent, Plan } from '@bobbin/core';
import { jsonText, planArtifacts, type ThreadKey } from '@bobbin/core/internal';
import { nodeOf, type MessageRow } from '../message-row.ts';
import { arrayText } from './array-type.ts';
import { indexMost } from '../index-parts.ts';
import type { Connection, Value } from './connection.ts';
import { searchable } from './recall-queries.ts';
import { Rounds } from './rounds.ts';
import { SearchableMemory } from './searchable-ids.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** A plan to commit, as the values of a query; lists are texts. */
type Commit = readonly (string | number | null)[];

interface Outcome {
  /** Null if another transaction had the thread, or this process had another state of it. */
  readonly won: boolean | null;
  /** The number of the last event. */
  readonly sequence: number | null;
  /** How many messages of the thread are searchable. */
  readonly searchable: number | null;
}

interface Compacted {
  readonly key: ThreadKey;
  readonly ids: readonly string[];
}

/** With two of them one is made while the disk is waited for by the other. */
const ROUNDS = 2;

/** Commits plans; those that come at the same time go together. */
export class PlanCommits {
  readonly #connection: Connection;
  readonly #compacted: Rounds<Compacted, readonly MessageRow[]>;
  readonly #commits: Rounds<Commit, Outcome>;
  readonly #searchable = new SearchableMemory();

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#compacted = new Rounds((items) => this.#notIndexed(items), ROUNDS);
    this.#commits = new Rounds((items) => this.#send(items, 'skip'), ROUNDS);
  }

  async commit(
    key: ThreadKey,
    plan: Plan,
    expectedVersion: number,
    events: readonly CompactionEvent[],
  ): Promise<Outcome> {
    const ids = new Set<string>(plan.records.flatMap(({ span }) => span.ids));
    const known = this.#searchable.get(key, expectedVersion);
    const values = [
      ...idsOf(key),
      expectedVersion,
      plan.head,
      plan.start,
      arrayText(plan.carried.map(({ id }) => id)),
      arrayText([...planArtifacts(plan)]),
      jsonText(plan),
      arrayText(events.map((event) => jsonText(event))),
    ];
    const fresh = [...ids].filter((id) => known?.ids.has(id) !== true);
    let count = known?.count ?? null;
    await indexMost(fresh, async (part) => {
      count = await this.#addWords(key, part);
    });
    const words = await this.#wordsOf(key, fresh);
    const outcome = await this.#commits.ask([...values, ...words, count]);
    if (outcome.won === null) return this.#commitAlone(key, values, [...ids]);
    if (outcome.won) {
      const all = new Set([...ids, ...(known?.ids ?? [])]);
      const version = expectedVersion + 1;
      this.#searchable.set(key, { version, count: outcome.searchable ?? 0, ids: all });
    }
    return outcome;
  }

  /** Waits for the thread, and knows nothing of it. */
  async #commitAlone(key: ThreadKey, values: Commit, ids: readonly string[]): Promise<Outcome> {
    this.#searchable.delete(key);
    const commit = [...values, ...(await this.#wordsOf(key, ids)), null];
    const [outcome] = await this.#send([commit], 'wait');
    return outcome as Outcome;
  }

  /** Makes messages searchable before their plan is committed. */
  async #addWords(key: ThreadKey, ids: readonly string[]): Promise<number | null> {
    const [row] = (await this.#connection.ask(
      'SELECT bobbin.add_words($1, $2, $3, $4, $5) AS searchable',
      ...idsOf(key),
      ...(await this.#wordsOf(key, ids)),
    )) as readonly { searchable: number | null }[];
    return row?.searchable ?? null;
  }

  /** The ids, lengths and words of those messages that are not searchable yet. */
  async #wordsOf(key: ThreadKey, ids: readonly string[]): Promise<readonly string[]> {
    const rows = ids.length === 0 ? [] : await this.#compacted.ask({ key, ids });
    const texts = rows.map((row) => searchable(nodeOf(row, whereOf(key))));
    return [
      arrayText(rows.map(({ id }) => id)),
      arrayText(texts.map(({ length }) => length)),
      arrayText(texts.map(({ words }) => words)),
    ];
  }

  async #notIndexed(items: readonly Compacted[]): Promise<readonly (readonly MessageRow[])[]> {
    const keys = items.map(({ key }) => idsOf(key));
    const rows = (await this.#connection.ask(
      'SELECT * FROM bobbin.not_indexed($1, $2, $3)',
      keys.map(([tenant]) => tenant),
      keys.map(([, thread]) => thread),
      items.map(({ ids }) => arrayText(ids)),
    )) as readonly (MessageRow & { item: number })[];
    const found = items.map((): MessageRow[] => []);
    for (const row of rows) found[row.item - 1]?.push(row);
    return found;
  }

  /** What happens if another transaction has a thread: it is left out, or waited for. */
  async #send(commits: readonly Commit[], locked: 'skip' | 'wait'): Promise<readonly Outcome[]> {
    const columns = (commits[0] ?? []).map((_, i): Value =>
      commits.map((commit) => commit[i] ?? null),
    );
    const rows = await this.#connection.askOnce(
      'SELECT * FROM bobbin.commit_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
      ...columns,
      Number(locked === 'wait'),
    );
    return rows as readonly Outcome[];
  }
}
