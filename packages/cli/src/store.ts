import { existsSync } from 'node:fs';
import type { Store } from '@bobbin/core';
import type { StoreVerdict } from '@bobbin/stores';
import { parseOptions, type Command, type OptionTable } from './command.ts';
import { EXIT, InputError, UsageError } from './failure.ts';
import { counted } from './figures.ts';
import { write } from './text-stream.ts';

const OPTIONS = {
  tenant: {
    type: 'strings',
    value: 'NAME',
    help: 'Only the threads of this tenant; may be given more than once. Default: all.',
  },
} as const satisfies OptionTable;

export const storeCommand: Command = {
  name: 'store',
  summary: 'copies threads from store to store, or verifies every hash in one',
  operands: 'copy FROM TO | verify STORE',
  about:
    'Copies all threads with their forks, plans and events from one store to another and verifies the copy, or verifies a store: every hash, place and reference. A copy that was broken off can be repeated. A store is a PostgreSQL address (postgres://…), a SQLite file (….db, ….sqlite), or a folder of JSONL files.',
  options: OPTIONS,
  examples: [
    'bobbin store copy sessions/ sessions.db',
    'bobbin store copy sessions.db postgres://localhost/bobbin --tenant acme',
    'bobbin store verify sessions.db',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [action, ...places] = operands;
    if (action === 'copy' && places.length === 2) return copy(places, values.tenant);
    if (action === 'verify' && places.length === 1) return verify(places, values.tenant);
    throw new UsageError('give copy FROM TO, or verify STORE');
  },
};

/** Stores are loaded when they are asked for: no other command waits for them. */
async function copy([from = '', to = '']: readonly string[], tenants?: readonly string[]) {
  const { copyStore } = await import('@bobbin/stores');
  return using(await openExisting(from), async (source) =>
    using(await open(to), async (target) =>
      report('copied', await copyStore(source, target, tenants)),
    ),
  );
}

async function verify([place = '']: readonly string[], tenants?: readonly string[]) {
  const { verifyStore } = await import('@bobbin/stores');
  return using(await openExisting(place), async (store) =>
    report('verified', await verifyStore(store, tenants)),
  );
}

const POSTGRES = /^postgres(?:ql)?:\/\//;
const SQLITE = /\.(?:db|sqlite3?)$/;

async function open(place: string): Promise<Store> {
  if (POSTGRES.test(place)) {
    const { postgresStore } = await import('@bobbin/stores/postgres');
    return postgresStore(place);
  }
  const { jsonlStore, sqliteStore } = await import('@bobbin/stores');
  // Broken off, a copy is repeated: it need not survive the power failing.
  return SQLITE.test(place) ? sqliteStore(place, { sync: 'normal' }) : jsonlStore(place);
}

/** A store that is only read must be there: it is not made. */
async function openExisting(place: string): Promise<Store> {
  if (!POSTGRES.test(place) && !existsSync(place))
    throw new InputError(place, undefined, 'there is no such store');
  return open(place);
}

async function using(store: Store, task: (store: Store) => Promise<number>): Promise<number> {
  try {
    return await task(store);
  } finally {
    await store.close();
  }
}

async function report(
  done: string,
  { threads, messages, plans, problems }: StoreVerdict,
): Promise<number> {
  const sizes = [counted(threads, 'thread'), counted(messages, 'message'), counted(plans, 'plan')];
  await write(
    process.stdout,
    `${sizes.join(', ')} ${done}; ${counted(problems.length, 'problem')}\n`,
  );
  for (const { tenant, thread, problem } of problems)
    await write(process.stderr, `bobbin: ${tenant}/${thread}: ${problem}\n`);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}
