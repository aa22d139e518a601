import type { Clock } from '@bobbin/core';
import type { Folders } from './folders.ts';
import type { Permissions } from './loop/permissions.ts';
import type { Settings } from './settings.ts';
import type { Vault } from './session/vault.ts';

/** What an agent is started with. */
export interface AgentOptions {
  readonly folders: Folders;
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  readonly vault: Vault;
  readonly model: string;
  /** What a person should know of how it starts. */
  readonly notices?: readonly string[];
  readonly session: string;
  readonly permissions: Permissions;
  /** Whether a person can answer when a permission is asked for. */
  readonly interactive: boolean;
  readonly clock: Clock;
}
