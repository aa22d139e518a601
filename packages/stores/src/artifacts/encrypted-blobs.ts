import type { Blobs } from './blobs.ts';
import { assertKeyRing, decrypt, encrypt, type KeyRing } from './key-ring.ts';

/** What encrypted bytes begin with, before the length and the name of their key. */
const MARK = Buffer.from('bobbin-sealed\0');

/**
 * Encrypts all that is written to a place, with the current key of a ring; each object is bound to its name. Objects
 * from before the place was encrypted are read as they are.
 *
 * @throws RangeError if the keys could not encrypt.
 */
export function encryptedBlobs(blobs: Blobs, keys: KeyRing): Blobs {
  assertKeyRing(keys);
  const keyName = Buffer.from(keys.current);
  if (keyName.length > 255)
    throw new RangeError(
      `the name of the current key ${keys.current.slice(0, 20)}… has ${keyName.length} bytes, more than 255`,
    );
  const head = Buffer.concat([MARK, Buffer.of(keyName.length), keyName]);
  return {
    remove: (name) => blobs.remove(name),
    list: (prefix) => blobs.list(prefix),
    write: (name, bytes) => blobs.write(name, Buffer.concat([head, encrypt(keys, bytes, name)])),
    async read(name) {
      const bytes = await blobs.read(name);
      return bytes && opened(keys, bytes, name);
    },
  };
}

function opened(keys: KeyRing, bytes: Uint8Array, name: string): Uint8Array {
  if (!MARK.equals(bytes.subarray(0, MARK.length))) return bytes;
  const nameAt = MARK.length + 1;
  const sealedAt = nameAt + (bytes[MARK.length] ?? 0);
  const keyId = Buffer.from(bytes.subarray(nameAt, sealedAt)).toString();
  return decrypt(keys, keyId, bytes.subarray(sealedAt), name);
}
