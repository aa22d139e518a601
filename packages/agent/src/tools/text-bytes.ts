/** Whether bytes look like text: none of the first ones is zero. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8_000).includes(0);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as the text that gives the same bytes again; undefined if there is none. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
