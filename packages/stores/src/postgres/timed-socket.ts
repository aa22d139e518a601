import { Socket } from 'node:net';

/** A host and a port, or the path of a local socket. */
export type ServerPlace =
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

/** A connection on which nothing came or went for a time is taken for lost: a network may fall silent without a word. */
class TimedSocket extends Socket {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    // A listener would not do: the driver removes all of them when it begins to encrypt.
    if (event === 'timeout')
      this.destroy(
        Object.assign(new Error('no answer from the server in time'), { code: 'ETIMEDOUT' }),
      );
    return super.emit(event, ...values);
  }
}

/** Makes connections for a pool, to the first server of several that takes them. */
export function connector(places: readonly ServerPlace[], timeoutMs: number): () => Socket {
  let next = 0;
  return () => {
    const place = places[next % places.length] as ServerPlace;
    const socket = new TimedSocket();
    socket.setTimeout(timeoutMs);
    socket.once('error', () => {
      next += 1;
    });
    // The driver asks a connection for its host when it begins to encrypt.
    Object.assign(socket, place);
    return 'path' in place ? socket.connect(place.path) : socket.connect(place.port, place.host);
  };
}
