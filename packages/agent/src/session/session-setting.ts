import type { Clock } from '@bobbin/core';
import type { SummaryReport, ThreadKey } from '@bobbin/core/internal';
import type { LivePrompt } from '@bobbin/models';
import type { Folders } from '../folders.ts';
import type { Model } from '../model/models.ts';
import type { Settings } from '../settings.ts';
import type { Vault } from './vault.ts';

/** What a session is made of. */
export interface SessionSetting {
  readonly folders: Folders;
  readonly vault: Vault;
  readonly settings: Settings;
  readonly model: Model;
  /** Writes the summaries, if it is not the model that works. */
  readonly summaryModel?: Model;
  readonly clock: Clock;
  /** Sessions whose cost counts here: all of them was undone. */
  readonly paidIn: readonly ThreadKey[];
  readonly automatic: boolean;
  /** Whether a model writes the summaries, or the built-in extract. */
  readonly summaries: 'model' | 'extract';
  /** The prompt that `model` knows already, if any. */
  readonly live: () => Promise<LivePrompt | undefined>;
  /** The engine asks for a summary; whether a model is asked for it follows. */
  readonly onSummaryWanted: () => void;
  readonly onSummaryStart: () => void;
  readonly onSummaryReport: (report: SummaryReport) => void;
  readonly onSummaryFailure: (reason: string) => void;
}
