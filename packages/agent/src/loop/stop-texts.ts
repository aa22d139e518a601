// What a person reads when the agent stops, or goes on in another way.

export const NOTHING_CHANGED: string = 'The compaction was stopped; nothing has changed.';
export const FULL: string =
  'The context is full and auto-compaction is off. /compact frees space, /handoff GOAL starts afresh with what matters, /autocompact on lets it happen by itself.';
export const NO_SPACE: string =
  'The context is full and could not be compacted. Nothing is lost: /compact tries again, /handoff GOAL starts afresh with what matters.';
export const TOO_SMALL: string =
  'What must stay (system prompt, tools, instructions, pins) leaves no space in this window. Choose a model with a larger one, or shorten the instructions; /context shows the sizes.';
export const gaveUpText = (times: number): string =>
  `Compaction failed ${times} times in a row, so it is tried only when it must be. /compact tries again, /autocompact on turns it back on.`;
export const noSummariesText = (times: number): string =>
  `The model failed to write a summary ${times} times in a row. Summaries are now made without a model; /model makes it try again.`;
export const REFILLS: string =
  'The context fills up again at once after each compaction, so it stops here instead of going round. One step brings more than a compaction can free: ask for smaller outputs, choose a larger window, or /handoff GOAL. /context shows what takes the space; "go on" tries once more.';
export const OVERFLOWS: string =
  'The provider refuses the prompt as too long even after compacting';
