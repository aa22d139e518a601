import { assertNames, type ThreadKey } from '@bobbin/core/internal';

/** A key as the first two values of a query. */
export function idsOf({ tenant, thread }: ThreadKey): [tenant: string, thread: string] {
  assertNames(tenant, thread);
  return [tenant, thread];
}

/** What an error names. */
export function whereOf({ thread }: ThreadKey): string {
  return `postgres, thread ${thread}`;
}
