/** The result of a call that was under way when the process died: the model should not repeat it blindly. */
export const UNKNOWN_OUTCOME =
  'It is not known whether this was done: the agent ended while it was under way. Look at what is there before doing it again.';
