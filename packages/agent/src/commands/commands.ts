import { autocompactCommand } from './autocompact.ts';
import { branchCommand } from './branch.ts';
import { clearCommand } from './clear.ts';
import type { SlashCommand } from './command.ts';
import { compactCommand } from './compact.ts';
import { contextCommand } from './context.ts';
import { costCommand } from './cost.ts';
import { exportCommand } from './export.ts';
import { forkCommand } from './fork.ts';
import { handoffCommand } from './handoff.ts';
import { helpCommand } from './help.ts';
import { modelCommand } from './model.ts';
import { pinCommand, unpinCommand } from './pin.ts';
import { recallCommand } from './recall.ts';
import { resumeCommand } from './resume.ts';
import { settingsCommand } from './settings.ts';
import { undoCommand } from './undo.ts';

const OTHERS: readonly SlashCommand[] = [
  compactCommand,
  autocompactCommand,
  branchCommand,
  forkCommand,
  handoffCommand,
  undoCommand,
  contextCommand,
  pinCommand,
  unpinCommand,
  costCommand,
  recallCommand,
  modelCommand,
  resumeCommand,
  exportCommand,
  clearCommand,
  settingsCommand,
];

export const COMMANDS: readonly SlashCommand[] = [...OTHERS, helpCommand(OTHERS)];
