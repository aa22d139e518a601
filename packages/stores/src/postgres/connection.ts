import type { Options, PendingQuery, Row, Sql, TransactionSql } from 'postgres';
import { ARRAYS } from './array-type.ts';
import { driver, loadDriver } from './driver.ts';
import { once, reliably, transact, type Patience } from './lost-connection.ts';
import { connector, type ServerPlace } from './timed-socket.ts';

export interface ConnectionOptions extends Patience {
  /** How many connections this process may have at once. */
  readonly connections: number;
  /**
   * Whether statements are prepared once for each connection; by default they are if the address leads to the server
   * itself.
   */
  readonly prepare?: 'always' | 'never';
}

export type Value = string | number | null | readonly (string | number | null)[];

/** How long what is under way may take when the pool is closed. */
const CLOSE_SECONDS = 5;

/** A pool of connections, which asks in the ways that a store needs. */
export class Connection {
  readonly sql: Sql;
  readonly #patience: Patience;
  readonly #prepare: boolean;
  #underWay = 0;
  /** True if the address leads to a pooler, which gives each transaction another session of the server. */
  readonly isPooled: boolean;

  private constructor(sql: Sql, patience: Patience, prepare: boolean, isPooled: boolean) {
    this.sql = sql;
    this.#patience = patience;
    this.#prepare = prepare;
    this.isPooled = isPooled;
  }

  static async open(url: string, options: ConnectionOptions): Promise<Connection> {
    const { connections: max, timeoutMs, prepare: asked } = options;
    await loadDriver();
    const isPooled = await leadsToPooler(url, options);
    const prepare = asked === undefined ? !isPooled : asked === 'always';
    return new Connection(pool(url, timeoutMs, { max, prepare }), options, prepare, isPooled);
  }

  /** One query in one round trip, which may be repeated: a read, or a write that changes nothing the second time. */
  ask(query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    return this.#counted(reliably(this.#patience, () => this.#send(query, values)));
  }

  /** One query that must not be repeated. */
  askOnce(query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    return this.#counted(once(this.#patience, () => this.#send(query, values)));
  }

  /** A query that is not a function of ours: the tenant is named before it, in the same transaction. */
  askAs(tenant: string, query: string, ...values: readonly Value[]): Promise<readonly unknown[]> {
    const prepare = this.#prepare;
    return this.transact(async (transaction) => {
      const [, rows] = await Promise.all([
        transaction.unsafe('SELECT bobbin.act_for($1)', [tenant], { prepare }),
        transaction.unsafe(query, values as never[], { prepare }),
      ]);
      return rows as readonly unknown[];
    });
  }

  /** Some queries in one transaction, which may be repeated. */
  transact<T>(work: (transaction: TransactionSql) => Promise<T>): Promise<T> {
    return this.#counted(reliably(this.#patience, () => transact(this.sql, work)));
  }

  /** The driver waits for an answer on a connection that was lost, too: if nothing is under way, it need not. */
  close(): Promise<void> {
    return this.sql.end({ timeout: this.#underWay === 0 ? 0 : CLOSE_SECONDS });
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
    }
  }

  #send(query: string, values: readonly Value[]): PendingQuery<Row[]> {
    return this.sql.unsafe(query, values as never[], { prepare: this.#prepare });
  }
}

/** The driver's pool, over connections that do not wait for ever. */
export function pool(url: string, timeoutMs: number, options: Options<Record<string, never>>): Sql {
  const common = {
    onnotice: () => undefined,
    // If the connection is lost while the driver asks for the types of arrays, the driver never answers the query after
    // that.
    fetch_types: false,
    types: ARRAYS,
    // A pooler may not know a prepared statement any more. The driver would send it again: a COMMIT that was refused, and
    // has become a ROLLBACK, too.
    prepare: false,
    // We wait ourselves.
    backoff: () => 0,
    connect_timeout: secondsOf(timeoutMs),
  };
  const places = placesIn(url);
  const [first] = places;
  const one = first === undefined || 'path' in first ? {} : first;
  return driver()(url, {
    ...common,
    ...one,
    ...options,
    ...({ socket: connector(places, timeoutMs) } as object),
  });
}

/** The driver counts in whole seconds, and takes 0 for ever. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

/** The servers that an address names: the driver has read it, and connects to nothing until it is asked. */
function placesIn(url: string): readonly ServerPlace[] {
  const { options } = driver()(url, { max: 1 });
  const { path } = options as { path?: string | false };
  if (typeof path === 'string') return [{ path }];
  return options.host.map((host, i) => ({ host, port: options.port[i] ?? 5_432 }));
}

/** A pooler answers for the server, with its own process number. */
async function leadsToPooler(url: string, patience: Patience): Promise<boolean> {
  const sql = pool(url, patience.timeoutMs, { max: 1 });
  try {
    const rows = await reliably(patience, () => sql.unsafe('SELECT pg_backend_pid() AS pid'));
    return Number(rows[0]?.['pid']) !== rows.state.pid;
  } finally {
    await sql.end({ timeout: 0 });
  }
}
