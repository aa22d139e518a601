import { existsSync } from 'node:fs';
import type { Store, ThreadId } from '@bobbin/core';
import type { ThreadEntry } from '@bobbin/core/internal';
import type { KeptArtifacts, StoreVerdict } from '@bobbin/stores';
import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { EXIT, InputError, writeError, UsageError } from '../failure.ts';
import { oneLine } from '../output/columns.ts';
import { counted } from '../output/figures.ts';
import { readKeys } from '../input/key-file.ts';
import { migrateStore, tenantsOf, withStore } from '../input/store-place.ts';
import { write } from '../input/text-stream.ts';

const OPTIONS = {
  tenant: {
    type: 'strings',
    value: 'NAME',
    help: 'Only what is of this tenant; may be given more than once. Default: all.',
  },
  artifacts: {
    type: 'string',
    value: 'FOLDER',
    help: 'The artifacts that plans of the store point to: to be verified, copied, swept or rotated.',
  },
  'artifacts-to': {
    type: 'string',
    value: 'FOLDER',
    help: 'Where copy puts the artifacts.',
  },
  keys: {
    type: 'string',
    value: 'FILE',
    help: 'The keys of the artifacts: {"current": ID, "keys": {ID: BASE64 of 32 bytes, …}}.',
  },
} as const satisfies OptionTable;

type Values = OptionValues<typeof OPTIONS>;

const ACTIONS: Readonly<
  Record<string, (places: readonly string[], values: Values) => Promise<number>>
> = { list, copy, verify, sweep, rotate, migrate };

export const storeCommand: Command = {
  name: 'store',
  operands: 'list STORE | copy FROM TO | verify STORE | sweep STORE | rotate STORE | migrate STORE',
  about:
    'list prints one line for each thread: tenant, name, messages, version of the plan, when it was last written to, and its first request. copy takes all threads with their forks, plans and events from one store to another and verifies the copy; broken off, it can be repeated. verify checks every hash, place and reference. sweep removes artifacts that no plan points to, past plans included, and that have expired or whose threads are gone. rotate encrypts every artifact with the current key. migrate makes a store, or brings one of an earlier version up to date; all others change nothing of a store that they read. A store is a PostgreSQL address (postgres://…), a SQLite file (….db, ….sqlite), a folder of JSONL files, or the folder of a gateway.',
  options: OPTIONS,
  examples: [
    'bobbin store list sessions.db',
    'bobbin store copy sessions/ sessions.db',
    'bobbin store copy sessions.db postgres://localhost/bobbin --tenant acme',
    'bobbin store verify sessions.db --artifacts artifacts',
    'bobbin store sweep sessions.db --artifacts artifacts',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [name = '', ...places] = operands;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined || places.length !== (name === 'copy' ? 2 : 1))
      throw new UsageError(`give ${storeCommand.operands.replaceAll(' | ', ', or ')}`);
    return action(places, values);
  },
};

async function list([place = '']: readonly string[], values: Values): Promise<number> {
  const { threadsOf } = await import('@bobbin/stores');
  return withStore(place, true, async (store) => {
    for (const tenant of await tenantsOf(store, place, values.tenant))
      for await (const entry of threadsOf(store, tenant))
        await write(process.stdout, `${await threadLine(store, tenant, entry)}\n`);
    return EXIT.done;
  });
}

async function threadLine(store: Store, tenant: string, entry: ThreadEntry): Promise<string> {
  const { textOf } = await import('@bobbin/core');
  const { thread, head, length, version, changedAt } = entry;
  const [first] = await store.turns({ tenant, thread }, head);
  return [
    ...[tenant, thread].map((name) => oneLine(name, NAME_COLUMNS)),
    counted(length, 'message'),
    `plan ${version}`,
    new Date(changedAt).toISOString().slice(0, 19),
    first === undefined ? '' : oneLine(textOf(first.message), REQUEST_COLUMNS),
  ].join('\t');
}

const [NAME_COLUMNS, REQUEST_COLUMNS] = [200, 60];

async function copy([from = '', to = '']: readonly string[], values: Values): Promise<number> {
  const { copyStore } = await import('@bobbin/stores');
  const artifacts = await givenArtifacts(values);
  const target = values['artifacts-to'];
  if ((artifacts === undefined) !== (target === undefined))
    throw new UsageError('artifacts are copied from --artifacts to --artifacts-to');
  return withStore(from, true, (source) =>
    withStore(to, false, async (copied) => {
      const tenants = await tenantsOf(source, from, values.tenant);
      const verdict = await report('copied', await copyStore(source, copied, tenants));
      if (artifacts === undefined || target === undefined) return verdict;
      return worst(verdict, await copyArtifacts(source, artifacts, target, tenants, values));
    }),
  );
}

async function copyArtifacts(
  source: Store,
  from: KeptArtifacts,
  folder: string,
  tenants: readonly string[],
  values: Values,
): Promise<number> {
  const to = await artifactsIn(folder, values);
  return eachTenant(tenants, async (tenant) => {
    const { copied, problems } = await from.copyTo(to, tenant);
    const verified = await to.verify(tenant, await liveIn(source, tenant));
    return { done: `${counted(copied, 'artifact')} copied`, problems: [...problems, ...verified] };
  });
}

async function verify([place = '']: readonly string[], values: Values): Promise<number> {
  const { verifyStore } = await import('@bobbin/stores');
  const artifacts = await givenArtifacts(values);
  return withStore(place, true, async (store) => {
    const tenants = await tenantsOf(store, place, values.tenant);
    const verdict = await report('verified', await verifyStore(store, tenants));
    if (artifacts === undefined) return verdict;
    const kept = await eachTenant(tenants, async (tenant) => {
      const live = await liveIn(store, tenant);
      const problems = await artifacts.verify(tenant, live);
      return { done: `${counted(live.size, 'artifact')} of plans verified`, problems };
    });
    return worst(verdict, kept);
  });
}

async function sweep([place = '']: readonly string[], values: Values): Promise<number> {
  const artifacts = await neededArtifacts(values);
  return withStore(place, true, async (store) =>
    eachTenant(await tenantsOf(store, place, values.tenant), async (tenant) => {
      const live = await liveIn(store, tenant);
      const hasThread = async (thread: ThreadId): Promise<boolean> =>
        (await store.heads({ tenant, thread })).length > 0;
      const swept = await artifacts.sweep(tenant, (id) => live.has(id), Date.now(), { hasThread });
      const { kept, removed, problems } = swept;
      return { done: `${counted(removed, 'artifact')} removed, ${kept} kept`, problems };
    }),
  );
}

async function rotate([place = '']: readonly string[], values: Values): Promise<number> {
  if (values.keys === undefined) throw new UsageError('rotate needs --keys');
  const artifacts = await neededArtifacts(values);
  return withStore(place, true, async (store) =>
    eachTenant(await tenantsOf(store, place, values.tenant), async (tenant) => {
      const { rotated, problems } = await artifacts.rotate(tenant);
      return { done: `${counted(rotated, 'artifact')} rotated`, problems };
    }),
  );
}

async function migrate([place = '']: readonly string[]): Promise<number> {
  await write(process.stdout, `${await migrateStore(place)}\n`);
  return EXIT.done;
}

async function liveIn(store: Store, tenant: string) {
  const { liveArtifacts } = await import('@bobbin/stores');
  return liveArtifacts(store, tenant);
}

async function givenArtifacts(values: Values): Promise<KeptArtifacts | undefined> {
  const { artifacts: folder } = values;
  if (folder === undefined) return undefined;
  if (!existsSync(folder)) throw new InputError(folder, undefined, 'there is no such folder');
  return artifactsIn(folder, values);
}

async function neededArtifacts(values: Values): Promise<KeptArtifacts> {
  const artifacts = await givenArtifacts(values);
  if (artifacts === undefined) throw new UsageError('give the folder of --artifacts');
  return artifacts;
}

async function artifactsIn(folder: string, { keys }: Values): Promise<KeptArtifacts> {
  const { folderArtifacts } = await import('@bobbin/stores/artifacts');
  return folderArtifacts(folder, keys === undefined ? {} : { keys: await readKeys(keys) });
}

interface Done {
  readonly done: string;
  readonly problems: readonly { readonly id: string; readonly problem: string }[];
}

/** Does something for each tenant, and reports what was done and what is wrong. */
async function eachTenant(
  tenants: readonly string[],
  work: (tenant: string) => Promise<Done>,
): Promise<number> {
  let code: number = EXIT.done;
  for (const tenant of tenants) {
    const { done, problems } = await work(tenant);
    await write(process.stdout, `${tenant}: ${done}; ${counted(problems.length, 'problem')}\n`);
    for (const { id, problem } of problems) writeError(`${tenant}/${id}: ${problem}`);
    if (problems.length > 0) code = EXIT.failed;
  }
  return code;
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
    writeError(tenant === undefined ? problem : `${tenant}/${thread}: ${problem}`);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

function worst(...codes: readonly number[]): number {
  return Math.max(...codes);
}
