import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactStore, Store } from '@bobbin/core';
import type { Folders } from '../folders.ts';
import { LearntTokens } from '../model/learnt-tokens.ts';

/** Where sessions are kept: one store for all projects, a tenant for each. */
export interface Vault {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly folder: string;
  readonly learnt: LearntTokens;
}

export async function openVault(folders: Folders): Promise<Vault> {
  const [{ jsonlStore }, { folderArtifacts }] = await Promise.all([
    import('@bobbin/stores/jsonl'),
    import('@bobbin/stores/artifacts'),
  ]);
  // What was said and read belongs to its owner alone. If no folder can be made, the store says so when it is written
  // to.
  await mkdir(folders.data, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const folder = join(folders.data, 'sessions');
  const artifacts = folderArtifacts(join(folders.data, 'artifacts'));
  const learnt = new LearntTokens(join(folders.data, 'learnt-tokens.json'));
  return { store: jsonlStore(folder), artifacts, folder, learnt };
}
