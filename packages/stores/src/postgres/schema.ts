import type { Sql } from 'postgres';
import { StoreError } from '../store-error.ts';
import { ANCESTRY } from './ancestry-migration.ts';
import { JUMPS } from './jumps-migration.ts';
import { transact } from './lost-connection.ts';

/**
 * Each brings the schema from its index to the next version. A released one never changes.
 *
 * Every key leads with tenant and thread, so that the tables can be partitioned or distributed by them as they are.
 * Whatever is asked names its tenant first, in the same transaction: the policies show and take no row of another.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE bobbin.threads (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL,
    head text NOT NULL, length int NOT NULL, version int NOT NULL DEFAULT 0, events int NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, thread)
  ) WITH (fillfactor = 50);

  CREATE TABLE bobbin.messages (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
    parent text COLLATE "C", position int NOT NULL, turn int NOT NULL, opens_turn bool NOT NULL,
    message text NOT NULL,
    PRIMARY KEY (tenant, thread, id)
  );

  CREATE TABLE bobbin.plans (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, version int NOT NULL,
    head text, reach int NOT NULL, carried text[] NOT NULL, plan text NOT NULL,
    PRIMARY KEY (tenant, thread, version)
  );

  CREATE TABLE bobbin.events (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, sequence int NOT NULL,
    version int NOT NULL, event text NOT NULL,
    PRIMARY KEY (tenant, thread, sequence)
  );

  CREATE TABLE bobbin.recall (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (tenant, thread, id)
  );
  CREATE INDEX recall_words ON bobbin.recall USING gin (words);

  CREATE TABLE bobbin.vectors (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, embedder text NOT NULL,
    id text COLLATE "C" NOT NULL, vector bytea NOT NULL,
    PRIMARY KEY (tenant, thread, embedder, id)
  );

  DO $$
  DECLARE name text;
  BEGIN
    FOREACH name IN ARRAY ARRAY['threads', 'messages', 'plans', 'events', 'recall', 'vectors'] LOOP
      EXECUTE format('ALTER TABLE bobbin.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
      EXECUTE format(
        'CREATE POLICY own_tenant ON bobbin.%I USING (tenant = current_setting(''bobbin.tenant'', true))', name);
    END LOOP;
  END $$;

  CREATE FUNCTION bobbin.act_for(p_tenant text) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
  END $$;

  CREATE FUNCTION bobbin.append(
    p_tenant text, p_thread text, p_needed text[], p_ids text[], p_parents text[], p_positions int[], p_turns int[],
    p_opens int[], p_messages text[]
  ) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    last int := array_upper(p_ids, 1);
    needed text;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    FOREACH needed IN ARRAY p_needed LOOP
      IF NOT EXISTS (
        SELECT 1 FROM bobbin.messages m WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = needed
      ) THEN RETURN needed; END IF;
    END LOOP;
    -- The thread's row first: whoever writes to a thread waits here, and never in a circle.
    INSERT INTO bobbin.threads (tenant, thread, head, length)
    VALUES (p_tenant, p_thread, p_ids[last], p_positions[last] + 1)
    ON CONFLICT (tenant, thread) DO UPDATE SET head = excluded.head, length = excluded.length;
    INSERT INTO bobbin.messages (tenant, thread, id, parent, position, turn, opens_turn, message)
    SELECT p_tenant, p_thread, m.id, m.parent, m.position, m.turn, m.opens = 1, m.message
    FROM unnest(p_ids, p_parents, p_positions, p_turns, p_opens, p_messages)
      AS m (id, parent, position, turn, opens, message)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;

  CREATE FUNCTION bobbin.path(p_tenant text, p_thread text, p_head text, p_from int)
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY
    WITH RECURSIVE steps AS (
      SELECT m.* FROM bobbin.messages m
      WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = p_head AND m.position >= p_from
      UNION ALL
      SELECT m.* FROM steps s JOIN bobbin.messages m
      ON m.tenant = p_tenant AND m.thread = p_thread AND m.id = s.parent
      WHERE s.position > p_from
    )
    SELECT * FROM steps;
  END $$;

  CREATE FUNCTION bobbin.window_of(p_tenant text, p_thread text, p_head text)
  RETURNS TABLE (kind text, id text, parent text, "position" int, turn int, message text)
  LANGUAGE plpgsql AS $$
  DECLARE
    newest record;
    wanted text := p_head;
    place int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    IF wanted IS NULL THEN
      SELECT t.head INTO wanted FROM bobbin.threads t WHERE t.tenant = p_tenant AND t.thread = p_thread;
    END IF;
    SELECT p.version, p.reach, p.carried, p.plan INTO newest FROM bobbin.plans p
    WHERE p.tenant = p_tenant AND p.thread = p_thread ORDER BY p.version DESC LIMIT 1;
    IF FOUND THEN
      RETURN QUERY SELECT 'plan', '', NULL::text, newest.version, 0, newest.plan;
      RETURN QUERY SELECT 'carried', m.id::text, m.parent::text, m.position, m.turn, m.message FROM bobbin.messages m
        WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = ANY (newest.carried);
    END IF;
    SELECT m.position INTO place FROM bobbin.messages m
    WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = wanted;
    RETURN QUERY SELECT 'path', m.id::text, m.parent::text, m.position, m.turn, m.message
      FROM bobbin.path(p_tenant, p_thread, wanted, least(place, coalesce(newest.reach, 0))) m;
  END $$;

  CREATE FUNCTION bobbin.add_events(p_tenant text, p_thread text, p_version int, p_events text[])
  RETURNS void LANGUAGE plpgsql AS $$
  DECLARE last int;
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    UPDATE bobbin.threads SET events = events + cardinality(p_events)
    WHERE tenant = p_tenant AND thread = p_thread RETURNING events INTO last;
    IF last IS NULL OR cardinality(p_events) = 0 THEN RETURN; END IF;
    INSERT INTO bobbin.events (tenant, thread, sequence, version, event)
    SELECT p_tenant, p_thread, last - cardinality(p_events) + e.n, p_version, e.event
    FROM unnest(p_events) WITH ORDINALITY AS e (event, n);
    -- One channel a tenant. A thread's name that is too long for a message is looked for in the events.
    PERFORM pg_notify('bobbin_' || md5(p_tenant),
      json_build_object('thread', left(p_thread, 1500), 'sequence', last)::text);
  END $$;

  CREATE FUNCTION bobbin.commit(
    p_tenant text, p_thread text, p_expected int, p_head text, p_reach int, p_carried text[], p_plan text,
    p_events text[], p_ids text[], p_words text[]
  ) RETURNS bool LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    UPDATE bobbin.threads SET version = version + 1
    WHERE tenant = p_tenant AND thread = p_thread AND version = p_expected;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO bobbin.plans (tenant, thread, version, head, reach, carried, plan)
    VALUES (p_tenant, p_thread, p_expected + 1, p_head, p_reach, p_carried, p_plan);
    INSERT INTO bobbin.recall (tenant, thread, id, words)
    SELECT p_tenant, p_thread, c.id, c.words::tsvector FROM unnest(p_ids, p_words) AS c (id, words)
    ON CONFLICT DO NOTHING;
    PERFORM bobbin.add_events(p_tenant, p_thread, p_expected + 1, p_events);
    RETURN true;
  END $$;

  CREATE FUNCTION bobbin.not_indexed(p_tenant text, p_thread text, p_ids text[])
  RETURNS SETOF bobbin.messages LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY SELECT m.* FROM bobbin.messages m
    WHERE m.tenant = p_tenant AND m.thread = p_thread AND m.id = ANY (p_ids) AND NOT EXISTS (
      SELECT 1 FROM bobbin.recall r WHERE r.tenant = p_tenant AND r.thread = p_thread AND r.id = m.id);
  END $$;

  CREATE FUNCTION bobbin.search(p_tenant text, p_thread text, p_query text, p_most int)
  RETURNS TABLE (id text, parent text, "position" int, turn int, message text, score real)
  LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM set_config('bobbin.tenant', p_tenant, true);
    RETURN QUERY SELECT m.id::text, m.parent::text, m.position, m.turn, m.message,
      ts_rank(r.words, p_query::tsquery, 1) AS score
    FROM bobbin.recall r JOIN bobbin.messages m ON m.tenant = r.tenant AND m.thread = r.thread AND m.id = r.id
    WHERE r.tenant = p_tenant AND r.thread = p_thread AND r.words @@ p_query::tsquery
    ORDER BY score DESC, m.position LIMIT p_most;
  END $$;
  `,
  ANCESTRY,
  JUMPS,
];

/** Any number, the same for every process: who migrates waits for it. */
const MIGRATION_LOCK = 0x626f62;

/** Brings a database to the newest schema. Several processes may do so at once. */
export async function migrate(sql: Sql): Promise<void> {
  if ((await schemaVersion(sql)) === MIGRATIONS.length) return;
  await transact(sql, async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    const version = await schemaVersion(transaction);
    assertKnown(version);
    if (version === 0) {
      await transaction`CREATE SCHEMA IF NOT EXISTS bobbin`;
      await transaction`CREATE TABLE bobbin.schema (version int NOT NULL)`;
      await transaction`INSERT INTO bobbin.schema VALUES (0)`;
    }
    for (const migration of MIGRATIONS.slice(version)) await transaction.unsafe(migration);
    await transaction`UPDATE bobbin.schema SET version = ${MIGRATIONS.length}`;
  });
}

/** Refuses a database that has no store, or one that would have to be changed to be read. */
export async function assertPresent(sql: Sql): Promise<void> {
  const version = await schemaVersion(sql);
  assertKnown(version);
  if (version === 0) throw new StoreError('unavailable', 'there is no store in the database');
  if (version < MIGRATIONS.length)
    throw new StoreError(
      'unavailable',
      `the database has schema ${version} of Bobbin; bring it to schema ${MIGRATIONS.length} first (bobbin store migrate)`,
    );
}

function assertKnown(version: number): void {
  if (version > MIGRATIONS.length)
    throw new StoreError(
      'from-the-future',
      `the database has schema ${version} of Bobbin; this Bobbin knows schemas up to ${MIGRATIONS.length}: update it`,
    );
}

async function schemaVersion(sql: Pick<Sql, 'unsafe'>): Promise<number> {
  // The catalogue itself: name look-ups may answer from a cache that is older than the lock.
  const tables = await sql.unsafe(
    `SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'bobbin' AND tablename = 'schema'`,
  );
  if (tables.length === 0) return 0;
  const [row] = await sql.unsafe('SELECT version FROM bobbin.schema');
  return Number(row?.['version'] ?? 0);
}
