import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Headers of one connection, which say nothing to the next one. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers that the connection to the upstream has of its own. */
const REPLACED: ReadonlySet<string> = new Set(['host', 'content-length', 'expect']);

/** The beginning of the gateway's own headers. They never go to an upstream. */
const OWN = 'x-bobbin-';

/** A request's headers as the upstream gets them: names and values in pairs, in their order and spelling. */
export function requestHeaders(raw: readonly string[], length?: string): string[] {
  const dropped = namedByConnection(raw);
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]];
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || REPLACED.has(key) || dropped.has(key)) continue;
    if (key.startsWith(OWN)) continue;
    headers.push(name, value);
  }
  if (length !== undefined) headers.push('content-length', length);
  return headers;
}

/** The same headers, asking for an answer that is not compressed. */
export function withoutCompression(headers: readonly string[]): string[] {
  const kept = headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'accept-encoding');
  return [...kept, 'accept-encoding', 'identity'];
}

/** Headers that say how an answer is read. Each counts once, however often an upstream sends it. */
const READ_ONCE = ['content-type', 'content-length', 'content-encoding'] as const;

/** Headers of an answer in which those that are read are texts: an upstream may send any of them twice. */
export function withoutRepeats(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection } = headers as Record<string, unknown>;
  const once = { ...headers };
  if (Array.isArray(connection)) once.connection = connection.join(', ');
  for (const name of READ_ONCE) {
    const value: unknown = headers[name];
    if (Array.isArray(value)) once[name] = String(value[0]);
  }
  return once;
}

/** A response's headers as the client gets them. */
export function responseHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  const dropped = namesIn(headers.connection ?? '');
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_BY_HOP.has(name) && !dropped.has(name)) kept[name] = value;
  return kept;
}

function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  const values = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'connection');
  return namesIn(values.join(','));
}

/** The headers that a header `connection` names. */
function namesIn(connection: string): ReadonlySet<string> {
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}

/** The same headers for a body that is not compressed. */
export function withoutEncoding(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'content-encoding');
}
