import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'] as const;
const NAME_LENGTH = 32;
const BLOCK_BYTES = 64;

/** Names the tenant of a request. */
export type TenantNames = (headers: IncomingHttpHeaders) => string;

/**
 * The tenant of a request is a keyed hash (HMAC-SHA256) of its credential, which is kept nowhere. Two credentials never
 * have the same tenant, and nobody without the key learns a credential from its tenant. The key is prepared once: that
 * is most of the work.
 */
export function tenantNames(key: string): TenantNames {
  const given = Buffer.from(key);
  const block = Buffer.alloc(BLOCK_BYTES);
  (given.length > BLOCK_BYTES ? hash('sha256', given, 'buffer') : given).copy(block);
  const [inner, outer] = [0x36, 0x5c].map((pad) => Buffer.from(block.map((byte) => byte ^ pad)));
  return (headers) => {
    const credentials = CREDENTIALS.map((name) => String(headers[name] ?? ''));
    const message = Buffer.from(JSON.stringify(credentials));
    const first = hash('sha256', Buffer.concat([inner as Buffer, message]), 'buffer');
    return hash('sha256', Buffer.concat([outer as Buffer, first]), 'hex').slice(0, NAME_LENGTH);
  };
}
