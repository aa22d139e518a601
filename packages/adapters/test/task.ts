import { sha256 } from '@bobbin/core/internal';

/** A job of many steps, each of which needs a key from the one before it, and a name that only the assignment has. */
export class Task {
  readonly steps: number;
  readonly codename: string;
  /** How many steps can be asked for at once; `steps` is a multiple of it. */
  readonly atOnce: number;
  /** The steps that were carried out, in order. */
  readonly done: number[] = [];

  constructor(steps: number = 200, codename: string = 'HERON-7731', atOnce: number = 1) {
    this.steps = steps;
    this.codename = codename;
    this.atOnce = atOnce;
  }

  get assignment(): string {
    const first = Array.from({ length: this.atOnce }, (_, i) => tellStep(i + 1));
    return (
      `Migrate the ledger in ${this.steps} steps. Rule: sign every step as ${this.codename}, never otherwise. ` +
      `Each step tells the key of the next. ${first.join(' ')}`
    );
  }

  /** The tool. It refuses what is out of order or signed wrongly. */
  readonly runStep = ({ step, key, signed }: StepArguments): string => {
    if (key !== keyOf(step) || signed !== this.codename || step !== this.done.length + 1)
      return `REFUSED step ${step}: wrong key, signature or order`;
    this.done.push(step);
    const later = step + this.atOnce;
    const next =
      later <= this.steps
        ? tellStep(later)
        : step === this.steps
          ? 'ALL STEPS DONE'
          : 'nearly done';
    return [`step ${step} of ${this.steps} carried out`, ...logOf(step), next].join('\n');
  };

  /** What a model does that knows nothing but the request: the next steps, or its last word. */
  next(request: string): readonly StepArguments[] | string {
    const signed = /sign every step as ([A-Z]+-\d+)/.exec(request)?.[1];
    if (signed === undefined) return 'LOST: nothing says how to sign';
    if (request.includes('ALL STEPS DONE')) return `DONE ${this.steps} steps as ${signed}`;
    const known = new Map(
      [...request.matchAll(/NEXT step (\d+) key (K-[0-9a-f]{8})/g)].map(
        ([, step, key = '']) => [Number(step), key] as const,
      ),
    );
    const last = Math.max(0, ...known.keys());
    const steps = Array.from({ length: this.atOnce }, (_, i) => last - this.atOnce + i + 1);
    if (!steps.every((step) => known.has(step))) return 'LOST: nothing says the next step';
    return steps.map((step) => ({ step, key: known.get(step) ?? '', signed }));
  }

  /** The summary of a model that keeps only what it must keep: the user's rule and the next step. */
  summary(request: string): string {
    const [, known = ''] = request.split('The summary must keep all of this:');
    const [rule] = /Rule: sign every step as [A-Z]+-\d+/.exec(known) ?? [];
    const next = known.match(/NEXT step \d+ key K-[0-9a-f]{8}/g)?.at(-1);
    return [rule ?? 'no rule', next ?? 'no step'].join('\n');
  }
}

function tellStep(step: number): string {
  return `NEXT step ${step} key ${keyOf(step)}`;
}

/** How much an agent has to do in how small a window, and how often that must at least be compacted. */
export interface Job {
  readonly steps: number;
  readonly windowTokens: number;
  readonly compactions: number;
}

export const LONG: Job = { steps: 200, windowTokens: 16_000, compactions: 5 };
/** For what the long one is too slow to show each time; the soak test does the long one with every provider. */
export const SHORT: Job = { steps: 50, windowTokens: 8_000, compactions: 2 };

export function nameOf({ steps, windowTokens }: Job): string {
  return `${steps} steps in a window of ${windowTokens / 1_000}k`;
}

// An alias and no interface: tools take arguments that are records.
export type StepArguments = { step: number; key: string; signed: string };

export const STEP_SCHEMA: {
  type: 'object';
  properties: Record<keyof StepArguments, { type: 'integer' | 'string' }>;
  required: string[];
  additionalProperties: false;
} = {
  type: 'object',
  properties: {
    step: { type: 'integer' },
    key: { type: 'string' },
    signed: { type: 'string' },
  },
  required: ['step', 'key', 'signed'],
  additionalProperties: false,
};

function keyOf(step: number): string {
  return `K-${sha256(`step ${step}`).slice(0, 8)}`;
}

function logOf(step: number): readonly string[] {
  return Array.from({ length: 12 }, (_, i) => {
    const id = sha256(`${step}/${i}`).slice(0, 12);
    return `[info] moved batch ${step}-${i} (${id}) from accounts_old to ledger_entries: ${step * 37 + i} rows, checksum ok`;
  });
}
