import { existsSync } from 'node:fs';
import type { ThreadId } from '@bobbin/core';
import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { EXIT, InputError, UsageError } from '../failure.ts';
import { eraseLedger, gatewayArtifacts, storeIn } from '../gateway/gateway-place.ts';
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
    return EXIT.done;
  },
};

async function eraseIn(
  place: string,
  tenant: string,
  values: Values,
): Promise<readonly ThreadId[]> {
  const { erase, eraseOld } = await import('@bobbin/stores');
  const threads = values.thread as readonly ThreadId[] | undefined;
  const maxAgeMs = ageOf(values['older-than']);
  const artifacts = await artifactsIn(values.artifacts ?? gatewayArtifacts(place));
  const erased = await withStore(storeIn(place), true, async (store) => {
    for (const thread of threads ?? [])
      if ((await store.heads({ tenant, thread })).length === 0)
        throw new InputError(
          shownPlace(place),
          undefined,
          `tenant ${JSON.stringify(tenant)} has no thread ${JSON.stringify(thread)} there`,
        );
    if (maxAgeMs !== undefined)
      return eraseOld(store, artifacts, tenant, { maxAgeMs, now: Date.now() });
    return erase(store, artifacts, threads === undefined ? { tenant } : { tenant, threads });
  });
  const isAll = threads === undefined && maxAgeMs === undefined;
  await eraseLedger(place, isAll ? { tenant } : { tenant, threads: erased });
  return erased;
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
