import { existsSync } from 'node:fs';
import type { Store, ThreadId } from '@bobbin/core';
import type { KeptArtifacts, Ledger, NotedThread } from '@bobbin/stores';
import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { EXIT, InputError, UsageError } from '../failure.ts';
import { gatewayArtifacts, withLedger } from '../gateway/gateway-place.ts';
import { counted } from '../output/figures.ts';
import { shownPlace, withStore } from '../input/store-place.ts';
import { write } from '../input/text-stream.ts';

const OPTIONS = {
  tenant: {
    type: 'string',
    value: 'NAME',
    help: 'Whose threads are erased. bobbin store list prints the tenants.',
  },
  thread: {
    type: 'strings',
    value: 'NAME',
    help: 'A thread to be erased; may be given more than once.',
  },
  'older-than': {
    type: 'string',
    value: 'DAYS',
    help: 'Erase the threads that nothing was written to for so many days.',
  },
  all: { type: 'boolean', help: 'Erase all that the tenant has.' },
  artifacts: {
    type: 'string',
    value: 'FOLDER',
    help: 'The artifacts of the threads, to be erased with them.',
  },
} as const satisfies OptionTable;

type Values = OptionValues<typeof OPTIONS>;

const DAY_MS = 86_400_000;

export const deleteCommand: Command = {
  name: 'delete',
  operands: 'STORE',
  about:
    'Erases threads of one tenant: messages, plans, summaries, events, the search index, and what was moved out of prompts: in the folder of a gateway always, elsewhere with --artifacts. What a gateway noted of their requests goes with them. It asks nothing and cannot be undone. A store is a PostgreSQL address (postgres://…), a SQLite file (….db, ….sqlite), a folder of JSONL files, or the folder of a gateway.',
  options: OPTIONS,
  examples: [
    'bobbin delete sessions.db --tenant acme --thread support-42 --artifacts artifacts',
    'bobbin delete sessions.db --tenant acme --older-than 90',
    'bobbin delete postgres://localhost/bobbin --tenant acme --all',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [place, ...others] = operands;
    if (place === undefined || others.length > 0) throw new UsageError('give one STORE');
    const { tenant } = values;
    if (tenant === undefined) throw new UsageError('give the --tenant whose threads are erased');
    const scopes = [values.thread, values['older-than'], values.all].filter(
      (scope) => scope !== undefined,
    );
    if (scopes.length !== 1) throw new UsageError('give one of --thread, --older-than and --all');
    const erased = await eraseIn(place, tenant, values);
    await write(process.stdout, `${tenant}: ${counted(erased.length, 'thread')} erased\n`);
    if (values.artifacts === undefined && gatewayArtifacts(place) === undefined)
      await write(process.stderr, `${NO_ARTIFACTS}\n`);
    return EXIT.done;
  },
};

const NO_ARTIFACTS =
  'artifacts of these threads were not looked for: if there are any, repeat the command with --artifacts';

async function eraseIn(
  place: string,
  tenant: string,
  values: Values,
): Promise<readonly ThreadId[]> {
  const maxAgeMs = ageOf(values['older-than']);
  const artifacts = await artifactsIn(values.artifacts ?? gatewayArtifacts(place));
  return withStore(place, true, (store) =>
    withLedger(place, async (ledger) => {
      const noted = (await ledger?.threads(tenant)) ?? [];
      const hasThreads = noted.length > 0 || (await store.threads(tenant, 1)).length > 0;
      const from = { place, store, ledger, artifacts, noted };
      const erased =
        maxAgeMs === undefined
          ? await eraseNamed(from, tenant, values)
          : await eraseAged(from, tenant, maxAgeMs);
      if (!hasThreads && erased.artifacts === 0) throw unknownTenant(place, tenant);
      return erased.threads;
    }),
  );
}

interface Source {
  readonly place: string;
  readonly store: Store;
  readonly ledger: Ledger | undefined;
  readonly artifacts: KeptArtifacts | undefined;
  /** What the ledger has of the tenant. */
  readonly noted: readonly NotedThread[];
}

interface Erased {
  readonly threads: readonly ThreadId[];
  /** How many artifacts went with all or named threads: they may be left of threads that are gone. */
  readonly artifacts: number;
}

/** Erases the threads that were named, or all that a tenant has. */
async function eraseNamed(
  { place, store, ledger, artifacts, noted }: Source,
  tenant: string,
  values: Values,
): Promise<Erased> {
  const threads = values.thread as readonly ThreadId[] | undefined;
  // Artifacts may be left of threads that are gone.
  if (threads !== undefined && values.artifacts === undefined)
    await assertThere(place, store, noted, { tenant, threads });
  const what = threads === undefined ? { tenant } : { tenant, threads };
  const gone = noted.filter(({ thread }) => threads?.includes(thread) ?? true);
  const { erase } = await import('@bobbin/stores');
  // The threads last: broken off, they are still there to be named again.
  await ledger?.delete(what);
  const count = (await artifacts?.delete(what)) ?? 0;
  return { threads: both(gone, await erase(store, undefined, what)), artifacts: count };
}

async function eraseAged(
  { store, ledger, artifacts, noted }: Source,
  tenant: string,
  maxAgeMs: number,
): Promise<Erased> {
  const { eraseOld } = await import('@bobbin/stores');
  const now = Date.now();
  const { stored, gone } = await oldThreads(store, noted, tenant, now - maxAgeMs);
  await ledger?.delete({ tenant, threads: both(gone, stored) });
  const erased = await eraseOld(store, artifacts, tenant, { maxAgeMs, now });
  return { threads: both(gone, erased), artifacts: 0 };
}

/** A mistyped name must not look as if its threads were erased. */
function unknownTenant(place: string, tenant: string): InputError {
  const shown = shownPlace(place);
  const problem = `tenant ${JSON.stringify(tenant)} has nothing there; bobbin store list ${shown} prints the tenants`;
  return new InputError(shown, undefined, problem);
}

function both(noted: readonly NotedThread[], stored: readonly ThreadId[]): readonly ThreadId[] {
  return [...new Set([...stored, ...noted.map(({ thread }) => thread)])];
}

/** @throws InputError if neither the store nor the ledger has one of the threads. */
async function assertThere(
  place: string,
  store: Store,
  noted: readonly NotedThread[],
  { tenant, threads }: { readonly tenant: string; readonly threads: readonly ThreadId[] },
): Promise<void> {
  const names = new Set(noted.map(({ thread }) => thread));
  for (const thread of threads)
    if (!names.has(thread) && (await store.heads({ tenant, thread })).length === 0)
      throw new InputError(
        shownPlace(place),
        undefined,
        `tenant ${JSON.stringify(tenant)} has no thread ${JSON.stringify(thread)} there`,
      );
}

/** The threads that nothing was written to since a time: those in the store, and those that are left only in the ledger. */
async function oldThreads(
  store: Store,
  noted: readonly NotedThread[],
  tenant: string,
  since: number,
): Promise<{ readonly stored: readonly ThreadId[]; readonly gone: readonly NotedThread[] }> {
  const { threadsOf } = await import('@bobbin/stores');
  const changed = new Map<ThreadId, number>();
  for await (const { thread, changedAt } of threadsOf(store, tenant))
    changed.set(thread, changedAt);
  return {
    stored: [...changed].filter(([, at]) => at <= since).map(([thread]) => thread),
    gone: noted.filter(({ thread, at }) => !changed.has(thread) && at <= since),
  };
}

function ageOf(days: string | undefined): number | undefined {
  if (days === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(days))
    throw new UsageError(`--older-than is a number of days, not ${JSON.stringify(days)}`);
  return Number(days) * DAY_MS;
}

async function artifactsIn(folder: string | undefined): Promise<KeptArtifacts | undefined> {
  if (folder === undefined) return undefined;
  if (!existsSync(folder)) throw new InputError(folder, undefined, 'there is no such folder');
  const { folderArtifacts } = await import('@bobbin/stores/artifacts');
  return folderArtifacts(folder);
}
