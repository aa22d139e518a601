import {
  memoryArtifacts,
  memoryStore,
  type ArtifactStore,
  type BobbinOptions,
  type Codec,
  type Store,
} from '@bobbin/core';
import { Conversations, sessionConfig, type MarkCachePoints } from '@bobbin/core/internal';

/** What every adapter takes: Bobbin's own options, and the name of the thread if a session is to be resumed. */
export interface AdapterOptions<Wire> extends Omit<BobbinOptions<Wire>, 'codec'> {
  readonly thread?: string;
}

/** How a host writes messages, and how the cache points of a prompt are marked in them if it can mark them. */
export interface HostFormat<Wire> {
  readonly codec: Codec<Wire>;
  readonly mark?: MarkCachePoints<Wire>;
}

/** The conversations of a host, with the stores that its tools read. */
export class HostConversations<Wire> extends Conversations<Wire> {
  readonly store: Store;
  readonly artifacts: ArtifactStore;

  constructor({ codec, mark }: HostFormat<Wire>, options: AdapterOptions<Wire>) {
    const { thread, tenant = 'default', ...rest } = options;
    const { store = memoryStore(), artifacts = memoryArtifacts() } = options;
    const config = sessionConfig({ ...rest, tenant, codec, store, artifacts });
    super(config, {
      tenant,
      ...(thread === undefined ? {} : { thread }),
      ...(mark === undefined ? {} : { mark }),
    });
    this.store = store;
    this.artifacts = artifacts;
  }
}
