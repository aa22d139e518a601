import { constants } from 'node:os';

const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;
/** How long an end in order may take. */
const PATIENCE_MS = 5_000;

/**
 * Ends the program in order on a signal, or when its reader is gone. A second signal ends it at once; the commands that
 * its tools run end with it in any case.
 */
export function endOnSignal(end: () => Promise<void>): void {
  let isEnding = false;
  const onSignal = (signal: (typeof SIGNALS)[number]): void => {
    const leave = (): never => process.exit(128 + constants.signals[signal]);
    if (isEnding) leave();
    isEnding = true;
    setTimeout(leave, PATIENCE_MS);
    void end().finally(leave);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  for (const stream of [process.stdin, process.stdout])
    stream.on('error', () => (isEnding ? undefined : onSignal('SIGHUP')));
}
