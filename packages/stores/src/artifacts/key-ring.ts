import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { StoreError } from '../store-error.ts';

/** Keys of 32 bytes by id. New content is encrypted with the current one; the others still read what they wrote. */
export interface KeyRing {
  readonly current: string;
  readonly keys: Readonly<Record<string, Uint8Array>>;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM: a fresh nonce, the tag, the text. `about` is bound to it, so that it cannot be moved elsewhere. */
export function encrypt(ring: KeyRing, plain: Uint8Array, about: string): Uint8Array {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(ring, ring.current, about), iv);
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
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES));
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

function keyOf(ring: KeyRing | undefined, keyId: string, about: string): Uint8Array {
  const key = ring !== undefined && Object.hasOwn(ring.keys, keyId) ? ring.keys[keyId] : undefined;
  if (key === undefined)
    throw new StoreError('wrong-key', `${about} needs key ${keyId}, which is not in the key ring`);
  if (key.length !== 32)
    throw new RangeError(`key ${keyId} has ${key.length} bytes; AES-256 needs 32`);
  return key;
}
