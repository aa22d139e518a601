/** How the tables are laid out when they are made. */
export interface Layout {
  /** Into how many partitions, by a hash of the tenant, each table is divided; 0: none. */
  readonly partitions: number;
}

/**
 * Every key leads with tenant and thread, so that the tables can be partitioned or distributed by them. Every query
 * names its tenant first, in the same transaction: the policies show and take no row of another tenant. The policies
 * bind the owner too; with `bobbin.all_tenants` the owner reads all rows, as a backup must.
 *
 * A thread's row has the jumps of its head (see the functions), and how many messages and words are searchable.
 * A recall row has the different words of a message, without their places.
 */
export function tables({ partitions }: Layout): string {
  return `
  ${table('threads', partitions, {
    columns: `
    head text NOT NULL, length int NOT NULL, version int NOT NULL DEFAULT 0, events int NOT NULL DEFAULT 0,
    jumps text[] NOT NULL DEFAULT '{}', compacted int NOT NULL DEFAULT 0, words bigint NOT NULL DEFAULT 0,
    changed_at timestamptz NOT NULL DEFAULT now()`,
    key: '',
    // Every append changes the row: its next version fits on the same page.
    storage: 'WITH (fillfactor = 50)',
  })}
  ${table('messages', partitions, {
    columns: `
    id text COLLATE "C" NOT NULL, parent text COLLATE "C", position int NOT NULL, turn int NOT NULL,
    opens_turn bool NOT NULL, message text NOT NULL, jump text COLLATE "C"`,
    key: ', id',
  })}
  ${table('plans', partitions, {
    columns: `
    version int NOT NULL, head text, reach int NOT NULL, carried text[] NOT NULL, artifacts text[] NOT NULL,
    plan text NOT NULL`,
    key: ', version',
  })}
  ${table('events', partitions, {
    columns: 'sequence int NOT NULL, version int NOT NULL, event text NOT NULL',
    key: ', sequence',
  })}
  ${table('recall', partitions, {
    columns: 'id text COLLATE "C" NOT NULL, length int NOT NULL, words tsvector NOT NULL',
    key: ', id',
  })}
  ${table('vectors', partitions, {
    columns: 'embedder text NOT NULL, id text COLLATE "C" NOT NULL, vector bytea NOT NULL',
    key: ', embedder, id',
  })}
  DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT relname FROM pg_class
      WHERE relnamespace = 'bobbin'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'schema'
    LOOP
      EXECUTE format('ALTER TABLE bobbin.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
      EXECUTE format(
        'CREATE POLICY own_tenant ON bobbin.%I USING (tenant = current_setting(''bobbin.tenant'', true))', name);
      EXECUTE format(
        'CREATE POLICY all_tenants ON bobbin.%I FOR SELECT TO %I USING (current_setting(''bobbin.all_tenants'', true) = ''on'')',
        name, current_user);
    END LOOP;
  END $$;
  `;
}

interface TableParts {
  readonly columns: string;
  /** What the key has after tenant and thread. */
  readonly key: string;
  readonly storage?: string;
}

function table(
  name: string,
  partitions: number,
  { columns, key, storage = '' }: TableParts,
): string {
  const isDivided = partitions > 0;
  const whole = `CREATE TABLE bobbin.${name} (
    tenant text COLLATE "C" NOT NULL, thread text COLLATE "C" NOT NULL, ${columns},
    PRIMARY KEY (tenant, thread${key})
  ) ${isDivided ? 'PARTITION BY HASH (tenant)' : storage};`;
  const parts = Array.from(
    { length: partitions },
    (_, i) =>
      `CREATE TABLE bobbin.${name}_${i} PARTITION OF bobbin.${name}
       FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${i}) ${storage};`,
  );
  return [whole, ...parts].join('\n');
}
