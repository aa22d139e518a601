import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'] as const;
const NAME_LENGTH = 32;

/**
 * The tenant of a request: a keyed hash of its credential, which is kept nowhere. Two credentials never have the same
 * tenant, and nobody without the key learns a credential from its tenant.
 */
export function tenantOf(key: string, headers: IncomingHttpHeaders): string {
  const given = CREDENTIALS.map((name) => String(headers[name] ?? ''));
  return createHmac('sha256', key)
    .update(JSON.stringify(given))
    .digest('hex')
    .slice(0, NAME_LENGTH);
}
