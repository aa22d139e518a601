import type { IncomingMessage } from 'node:http';

export type RequestBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away before it had sent all of it. */
  | { readonly kind: 'aborted' };

/** Reads a request's body, as long as it has at most so many bytes. */
export function readBody(incoming: IncomingMessage, mostBytes: number): Promise<RequestBody> {
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > mostBytes) return Promise.resolve({ kind: 'too-large' });
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    incoming.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length <= mostBytes) pieces.push(piece);
      else {
        incoming.pause();
        pieces.length = 0;
        resolve({ kind: 'too-large' });
      }
    });
    incoming.once('end', () => resolve({ kind: 'whole', bytes: whole(pieces) }));
    incoming.once('error', () => resolve({ kind: 'aborted' }));
    incoming.once('close', () => resolve({ kind: 'aborted' }));
  });
}

function whole(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
