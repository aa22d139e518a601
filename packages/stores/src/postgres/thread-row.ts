import { assertKey, type ThreadKey } from '@bobbin/core/internal';

/** A key as the first two values of a query. */
export function idsOf(key: ThreadKey): [tenant: string, thread: string] {
  assertKey(key);
  const { tenant, thread } = key;
  return [tenant, thread];
}

/** What an error names. */
export function whereOf({ thread }: ThreadKey): string {
  return `postgres, thread ${thread}`;
}
