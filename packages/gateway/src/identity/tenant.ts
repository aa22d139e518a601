import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const CREDENTIALS = ['authorization', 'x-api-key', 'api-key'] as const;
const NAME_LENGTH = 32;
const BLOCK_BYTES = 64;

/** Names the tenant of a request that came on a connection. */
export type TenantNames = (headers: IncomingHttpHeaders, connection: object) => string;

/**
 * The tenant of a request is a keyed hash (HMAC-SHA256) of its credential, which is never stored. Two credentials never
 * have the same tenant, and nobody without the key learns a credential from its tenant. A client sends the same
 * credential with each request of a connection: it is hashed once, and forgotten with the connection.
 */
export function tenantNames(key: string): TenantNames {
  const hashed = credentialHash(key);
  const last = new WeakMap<object, { readonly credentials: string; readonly tenant: string }>();
  return (headers, connection) => {
    const credentials = JSON.stringify(CREDENTIALS.map((name) => String(headers[name] ?? '')));
    const known = last.get(connection);
    if (known?.credentials === credentials) return known.tenant;
    const tenant = hashed(credentials);
    last.set(connection, { credentials, tenant });
    return tenant;
  };
}

function credentialHash(key: string): (credentials: string) => string {
  const given = Buffer.from(key);
  const block = Buffer.alloc(BLOCK_BYTES);
  (given.length > BLOCK_BYTES ? hash('sha256', given, 'buffer') : given).copy(block);
  const [inner, outer] = [0x36, 0x5c].map((pad) => Buffer.from(block.map((byte) => byte ^ pad)));
  return (credentials) => {
    const message = Buffer.from(credentials);
    const first = hash('sha256', Buffer.concat([inner as Buffer, message]), 'buffer');
    return hash('sha256', Buffer.concat([outer as Buffer, first]), 'hex').slice(0, NAME_LENGTH);
  };
}
