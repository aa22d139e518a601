/** Bytes inside a text: how media whose bytes are on the wire are named in a part's `source`. */
export interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

export function dataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`;
}

export function parseDataUrl(source: string): DataUrl | undefined {
  const comma = source.startsWith('data:') ? source.indexOf(',') : -1;
  if (comma < 0) return undefined;
  const [mediaType = '', ...options] = source.slice('data:'.length, comma).split(';');
  return options.includes('base64') ? { mediaType, base64: source.slice(comma + 1) } : undefined;
}

/** `{ mediaType }` for a part, empty if the source does not say. */
export function mediaTypeField(source: string): { readonly mediaType?: string } {
  const mediaType = parseDataUrl(source)?.mediaType;
  return mediaType === undefined || mediaType === '' ? {} : { mediaType };
}

const CHUNK = 0x8000;

export function base64Of(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK)
    binary += String.fromCharCode(...bytes.subarray(i, i + CHUNK));
  return btoa(binary);
}
