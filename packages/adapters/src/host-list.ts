import type { Codec, Message } from '@bobbin/core';
import { contentHash } from '@bobbin/core/internal';

/** A list of messages that a host sends: looked into once, however many conversations it is held against. */
export class HostList<Wire extends object> {
  readonly wire: readonly Wire[];
  readonly #codec: Codec<Wire>;
  readonly #behind = new Map<number, readonly Message[]>();

  constructor(wire: readonly Wire[], codec: Codec<Wire>) {
    this.wire = wire;
    this.#codec = codec;
  }

  /** What the messages behind so many say; `before` are those that they stand behind. */
  behind(count: number, before: readonly Message[]): readonly Message[] {
    const known = this.#behind.get(count);
    const decoded = known ?? this.#codec.decode(this.wire.slice(count), before);
    this.#behind.set(count, decoded);
    return decoded;
  }
}

const contents = new WeakMap<object, string>();

/** The hash of what a host's message says by itself. */
export function contentOf<Wire extends object>(
  message: Wire | undefined,
  codec: Codec<Wire>,
): string | undefined {
  if (message === undefined) return undefined;
  const known = contents.get(message);
  if (known !== undefined) return known;
  const [decoded] = codec.decode([message]);
  if (decoded === undefined) return undefined;
  const content = contentHash(decoded);
  contents.set(message, content);
  return content;
}
