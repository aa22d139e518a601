import type { BobbinOptions, Codec, Store } from '@bobbin/core';
import {
  Conversations,
  controlsOf,
  counterLoader,
  sessionConfig,
  withVisibleWarnings,
  type Controls,
  type Conversation,
  type MarkCachePoints,
  type Memory,
  type SessionConfig,
} from '@bobbin/core/internal';

/** What every adapter takes: Bobbin's own options, and the name of the thread to resume a session. */
export interface AdapterOptions<Wire> extends Omit<BobbinOptions<Wire>, 'codec'> {
  readonly thread?: string;
}

/** What every adapter offers: `pin`, `unpin`, `compact`, `undo` and `recall` on its conversations. */
export type AdapterControls<Wire> = Controls<Wire>;

/** How a host writes messages, and how the cache points of a prompt are marked in them if it can mark them. */
export interface HostFormat<Wire> {
  readonly codec: Codec<Wire>;
  readonly mark?: MarkCachePoints<Wire>;
}

/** The conversations of a host, with what its tools read and what it can do with them. */
export class HostConversations<Wire> extends Conversations<Wire> {
  readonly store: Store;
  readonly memory: Memory;
  readonly #config: SessionConfig<Wire>;

  constructor({ codec, mark }: HostFormat<Wire>, options: AdapterOptions<Wire>) {
    const { thread, tenant = 'default', ...rest } = options;
    const config = sessionConfig({ ...withVisibleWarnings(rest), tenant, codec });
    super(config, {
      tenant,
      ...(thread === undefined ? {} : { thread }),
      ...(mark === undefined ? {} : { mark }),
      ready: counterLoader(config),
    });
    this.store = config.store;
    this.memory = config;
    this.#config = config;
  }

  /** What a host can do with a conversation; `only` is the one that is meant if it names none. */
  controls(only?: () => Promise<Conversation<Wire>>): Controls<Wire> {
    return controlsOf(this, this.#config, only);
  }
}
