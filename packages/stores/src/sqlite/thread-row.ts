import { assertKey, type ThreadKey } from '@bobbin/core/internal';

/** A key as the first two values of a query. */
export function idsOf(key: ThreadKey): [tenant: string, thread: string] {
  assertKey(key);
  return [key.tenant, key.thread];
}

/** What an error names. */
export function whereOf(path: string, { thread }: ThreadKey): string {
  return `${path}, thread ${thread}`;
}
