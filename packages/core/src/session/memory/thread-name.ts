import type { ThreadKey } from '../../ports.ts';
import type { ThreadId } from '../../message/message.ts';

/**
 * Tenants and threads may have any name that every store can distinguish from any other: half a surrogate pair becomes
 * the same character as any other half in UTF-8, and PostgreSQL keeps no NUL.
 *
 * @throws RangeError for any other name.
 */
export function assertNames(...names: readonly string[]): void {
  for (const name of names)
    if (/[\p{Surrogate}\0]/u.test(name))
      throw new RangeError(
        `${JSON.stringify(name)} cannot name a tenant or a thread: half a surrogate pair and NUL are no text`,
      );
}

/**
 * The key that a host means. A store keeps any name; an empty one from a host is a mistake that would mix up strangers'
 * threads.
 *
 * @throws RangeError if the tenant or the thread is no name, or an empty one.
 */
export function keyNamed(tenant: string, thread: string): ThreadKey {
  for (const [what, name] of Object.entries({ tenant, thread }))
    if (typeof name !== 'string' || name === '')
      throw new RangeError(
        `the name of a ${what} must be a string that is not empty, not ${JSON.stringify(name)}`,
      );
  assertNames(tenant, thread);
  return { tenant, thread: thread as ThreadId };
}
