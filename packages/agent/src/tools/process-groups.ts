/** A process gets this long to end by itself. */
export const GRACE_MS = 2_000;

/** Every command leads its own process group; the rest of the group may run on when the command is over. */
const groups = new Map<number, 'running' | 'stopping'>();
let endsWithProgram = false;

/** From now on the group ends with the program at the latest, unless SIGKILL ends the program. */
export function keepGroup(leader: number): void {
  if (!endsWithProgram) process.once('exit', endGroups);
  endsWithProgram = true;
  // The number of a group that is gone may be given to another program's.
  for (const known of groups.keys()) if (!signalGroup(known, 0)) groups.delete(known);
  groups.set(leader, 'running');
}

/** Asks the group to end, and ends it when it does not. */
export function stopGroup(leader: number): void {
  groups.set(leader, 'stopping');
  signalGroup(leader, 'SIGTERM');
  setTimeout(() => {
    signalGroup(leader, 'SIGKILL');
    groups.delete(leader);
  }, GRACE_MS).unref();
}

function endGroups(): void {
  for (const [leader, state] of groups)
    signalGroup(leader, state === 'stopping' ? 'SIGKILL' : 'SIGTERM');
}

/** False if there is no such group any more. */
function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}
