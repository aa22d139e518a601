import type { CompactionEvent, Plan } from '@bobbin/core';
import { planArtifacts, type ThreadKey } from '@bobbin/core/internal';
import { nodeOf, type MessageRow } from '../message-row.ts';
import { arrayText } from './array-type.ts';
import type { Connection, Value } from './connection.ts';
import { searchable } from './recall-queries.ts';
import { Rounds } from './rounds.ts';
import { idsOf, whereOf } from './thread-row.ts';

/** A plan that is to be committed, as the values of a query; lists are texts. */
type Commit = readonly (string | number | null)[];

interface Outcome {
  /** Null where another transaction had the thread. */
  readonly won: boolean | null;
  /** The number of the last event. */
  readonly sequence: number | null;
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
    const ids = [...new Set(plan.records.flatMap(({ span }) => span.ids))];
    const rows = await this.#compacted.ask({ key, ids });
    const texts = rows.map((row) => searchable(nodeOf(row, whereOf(key))));
    const commit = [
      ...idsOf(key),
      expectedVersion,
      plan.head,
      plan.start,
      arrayText(plan.carried.map(({ id }) => id)),
      arrayText([...planArtifacts(plan)]),
      JSON.stringify(plan),
      arrayText(events.map((event) => JSON.stringify(event))),
      arrayText(rows.map(({ id }) => id)),
      arrayText(texts.map(({ length }) => length)),
      arrayText(texts.map(({ words }) => words)),
    ];
    const outcome = await this.#commits.ask(commit);
    if (outcome.won !== null) return outcome;
    const [alone] = await this.#send([commit], 'wait');
    return alone as Outcome;
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

  /** What happens where another transaction has a thread: it is left out, or waited for. */
  async #send(commits: readonly Commit[], locked: 'skip' | 'wait'): Promise<readonly Outcome[]> {
    const columns = (commits[0] ?? []).map((_, i): Value =>
      commits.map((commit) => commit[i] ?? null),
    );
    const rows = await this.#connection.askOnce(
      'SELECT * FROM bobbin.commit_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
      ...columns,
      Number(locked === 'wait'),
    );
    return rows as readonly Outcome[];
  }
}
