import { existsSync } from 'node:fs';
import type { Store, ThreadId } from '@bobbin/core';
import type { NotedThread } from '@bobbin/stores';
import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { EXIT, InputError, UsageError } from '../failure.ts';
import { gatewayArtifacts, withLedger } from '../gateway/gateway-place.ts';
import { counted } from '../output/figures.ts';
import { shownPlace, withStore } from '../input/store-place.ts';
import { write } from '../input/text-stream.ts';

const OPTIONS = {
  tenant: { type: 'string', value: 'NAME', help: 'Whose threads are erased.' },
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
    'Erases threads of one tenant: messages, plans, summaries, events, the search index and, with --artifacts, what was moved out of prompts. What a gateway noted of their requests goes with them. It asks nothing and cannot be undone. A store is a PostgreSQL address (postgres://…), a SQLite file (….db, ….sqlite), a folder of JSONL files, or the folder of a gateway.',
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
  const threads = values.thread as readonly ThreadId[] | undefined;
  const maxAgeMs = ageOf(values['older-than']);
  const artifacts = await artifactsIn(values.artifacts ?? gatewayArtifacts(place));
  const { erase, eraseOld } = await import('@bobbin/stores');
  const now = Date.now();
  return withStore(place, true, (store) =>
    withLedger(place, async (ledger) => {
      const noted = (await ledger?.threads(tenant)) ?? [];
      // Artifacts may be left of threads that are gone.
      if (threads !== undefined && values.artifacts === undefined)
        await assertThere(place, store, noted, { tenant, threads });
      if (maxAgeMs === undefined) {
        const what = threads === undefined ? { tenant } : { tenant, threads };
        // The ledger first: broken off, the threads are still there to be named again.
        await ledger?.delete(what);
        const gone = noted.filter(({ thread }) => threads?.includes(thread) ?? true);
        return both(gone, await erase(store, artifacts, what));
      }
      const { stored, gone } = await oldThreads(store, noted, tenant, now - maxAgeMs);
      await ledger?.delete({ tenant, threads: both(gone, stored) });
      return both(gone, await eraseOld(store, artifacts, tenant, { maxAgeMs, now }));
    }),
  );
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

async function artifactsIn(folder: string | undefined) {
  if (folder === undefined) return undefined;
  if (!existsSync(folder)) throw new InputError(folder, undefined, 'there is no such folder');
  const { folderArtifacts } = await import('@bobbin/stores/artifacts');
  return folderArtifacts(folder);
}
