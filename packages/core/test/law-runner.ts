import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { travel } from './journey.ts';

/** What a run over many seeds came to. */
export interface LawReport {
  readonly prompts: number;
  readonly compactions: number;
  readonly failures: readonly Failure[];
}

export interface Failure {
  readonly seed: number;
  /** The shortest beginning of the case's conversation that fails still. */
  readonly messages: number;
  readonly error: string;
}

/** The seeds that one thread works off: every `step`th from `first` on. */
export interface Share {
  readonly first: number;
  readonly beyond: number;
  readonly step: number;
}

const MOST_FAILURES = 5;

/** Travels through every seed of a range, on all cores. */
export async function runSeeds(first: number, count: number): Promise<LawReport> {
  const step = availableParallelism();
  const shares = Array.from({ length: step }, (_, i) => ({
    first: first + i,
    beyond: first + count,
    step,
  }));
  const reports = await Promise.all(shares.map(inWorker));
  return {
    prompts: reports.reduce((sum, { prompts }) => sum + prompts, 0),
    compactions: reports.reduce((sum, { compactions }) => sum + compactions, 0),
    failures: reports.flatMap(({ failures }) => failures),
  };
}

function inWorker(share: Share): Promise<LawReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('law-worker.ts', import.meta.url), { workerData: share });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

/** Works off a share; stops early where enough has failed. */
export async function runShare({ first, beyond, step }: Share): Promise<LawReport> {
  let [prompts, compactions] = [0, 0];
  const failures: Failure[] = [];
  for (let seed = first; seed < beyond && failures.length < MOST_FAILURES; seed += step) {
    try {
      const travelled = await travel(seed);
      prompts += travelled.prompts;
      compactions += travelled.compactions;
    } catch (error) {
      failures.push(await shrunk(seed, error));
    }
  }
  return { prompts, compactions, failures };
}

/** The same failure on the shortest beginning of the conversation. */
async function shrunk(seed: number, whole: unknown): Promise<Failure> {
  for (let messages = 1; messages < 200; messages++) {
    try {
      await travel(seed, messages);
    } catch (error) {
      return { seed, messages, error: textOf(error) };
    }
  }
  return { seed, messages: Number.POSITIVE_INFINITY, error: textOf(whole) };
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** A report as a test's error: what to run to see each failure again. */
export function failureText({ failures }: LawReport): string {
  return failures
    .map(
      ({ seed, messages, error }) =>
        `seed ${seed} fails with its first ${messages} messages; again: BOBBIN_SEED=${seed} npm test -- packages/core/test/laws.test.ts\n${error}`,
    )
    .join('\n\n');
}
