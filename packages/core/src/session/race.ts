/** How often a lost race is run again before it is left to the winners. */
const MOST_RACES = 8;

/** What came of something that another writer may have been faster with. */
export interface Attempt {
  readonly lost?: true;
}

/** Does something again where another writer was faster, from what that one has left. */
export async function retryOnConflict<T extends Attempt>(run: () => Promise<T>): Promise<T> {
  let done = await run();
  for (let tries = 1; tries < MOST_RACES && done.lost === true; tries++) done = await run();
  return done;
}
