import { readFile } from 'node:fs/promises';
import type { KeyRing } from '@bobbin/stores';
import { InputError } from '../failure.ts';

const KEY_BYTES = 32;

/** A key ring from a file: `{"current": ID, "keys": {ID: BASE64 of 32 bytes, …}}`. No message shows a key. */
export async function readKeys(file: string): Promise<KeyRing> {
  const { isJsonObject, parseJson } = await import('@bobbin/core/internal');
  const ring = parseJson(await readFile(file, 'utf8'));
  const entries = isJsonObject(ring) && isJsonObject(ring['keys']) ? ring['keys'] : undefined;
  const current = isJsonObject(ring) ? ring['current'] : undefined;
  if (entries === undefined || typeof current !== 'string')
    throw new InputError(file, undefined, 'is no JSON of the form {"current": ID, "keys": {…}}');
  const keys: Record<string, Uint8Array> = {};
  for (const [id, text] of Object.entries(entries)) {
    const key = Buffer.from(typeof text === 'string' ? text : '', 'base64');
    if (key.length !== KEY_BYTES)
      throw new InputError(
        file,
        undefined,
        `key ${JSON.stringify(id)} has ${key.length} bytes, not ${KEY_BYTES} in base64`,
      );
    keys[id] = key;
  }
  if (!Object.hasOwn(keys, current))
    throw new InputError(
      file,
      undefined,
      `the current key ${JSON.stringify(current)} is not in it`,
    );
  return { current, keys };
}
