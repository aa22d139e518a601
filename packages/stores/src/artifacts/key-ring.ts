import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { fileName, nameInFile } from '../file-name.ts';
import { StoreError } from '../store-error.ts';

/** Keys of 32 bytes by id. New content is encrypted with the current one; the others still read what they wrote. */
export interface KeyRing {
  readonly current: string;
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/**
 * Refuses a key ring that would fail at the first put, or later at what an older key wrote. No message shows a key.
 * @throws RangeError
 */
export function assertKeyRing(ring: KeyRing): void {
  const current: unknown = ring.current;
  if (typeof current !== 'string') throw new RangeError('the current key is missing');
  for (const [id, key] of Object.entries<unknown>(ring.keys ?? {})) {
    if (!(key instanceof Uint8Array))
      throw new RangeError(`key ${JSON.stringify(id)} is a ${typeof key}, not ${KEY_BYTES} bytes`);
    if (key.length !== KEY_BYTES)
      throw new RangeError(`key ${JSON.stringify(id)} has ${key.length} bytes, not ${KEY_BYTES}`);
  }
  if (!Object.hasOwn(ring.keys ?? {}, current))
    throw new RangeError(`the current key ${JSON.stringify(current)} is not among the keys`);
}

/** AES-256-GCM: a fresh nonce, the tag, the text. `about` is bound to it, so that it cannot be moved elsewhere. */
export function encrypt(ring: KeyRing, plain: Uint8Array, about: string): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(ring, ring.current, about), iv, {
    authTagLength: TAG_BYTES,
  });
  cipher.setAAD(Buffer.from(about));
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), text]);
}

export function decrypt(
  ring: KeyRing | undefined,
  keyId: string,
  sealed: Uint8Array,
  about: string,
): Uint8Array {
  const key = keyOf(ring, keyId, about);
  if (sealed.length < IV_BYTES + TAG_BYTES)
    throw new StoreError('damaged', `${about} is cut off: ${sealed.length} bytes are left of it`);
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(about));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    const text = sealed.subarray(IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(text), decipher.final()]);
  } catch (error) {
    throw new StoreError(
      'wrong-key',
      `${about} cannot be decrypted with key ${keyId}: it is another key, or the content is damaged`,
      error,
    );
  }
}

/** The key id that a file name encodes: a long one cannot be read from its name, but the ring knows it. */
export function keyIdOf(ring: KeyRing | undefined, name: string): string {
  const known = Object.keys(ring?.keys ?? {}).find((id) => fileName(id) === name);
  return known ?? nameInFile(name) ?? name;
}

export function holdsKey(ring: KeyRing | undefined, keyId: string): boolean {
  return ring !== undefined && Object.hasOwn(ring.keys, keyId);
}

function keyOf(ring: KeyRing | undefined, keyId: string, about: string): Uint8Array {
  const key = holdsKey(ring, keyId) ? ring?.keys[keyId] : undefined;
  if (key === undefined)
    throw new StoreError('wrong-key', `${about} needs key ${keyId}, which is not in the key ring`);
  return key;
}
