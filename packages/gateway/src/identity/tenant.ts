import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'] as const;
const NAME_LENGTH = 32;

/**
 * The tenant of a request: a keyed hash of its credential, which is kept nowhere. Two credentials never have the same
 * tenant, and nobody without the key learns a credential from its tenant. The key is hashed in twice, as in an HMAC: what
 * is known of one hash says nothing about another.
 */
export function tenantOf(key: string, headers: IncomingHttpHeaders): string {
  const given = CREDENTIALS.map((name) => String(headers[name] ?? ''));
  const sizes = given.map(({ length }) => length).join(',');
  const inner = hash('sha256', `${key}\n${sizes}\n${given.join('\n')}`);
  return hash('sha256', `${key}\n${inner}`).slice(0, NAME_LENGTH);
}
