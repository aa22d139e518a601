import { sha256 } from '@bobbin/core';

/** A job of many steps, each of which needs what the one before it told, and a name that only the assignment tells. */
export class Task {
  readonly steps: number;
  readonly codename: string;
  /** The steps that were carried out, in order. */
  readonly done: number[] = [];

  constructor(steps: number = 200, codename: string = 'HERON-7731') {
    this.steps = steps;
    this.codename = codename;
  }

  get assignment(): string {
    return (
      `Migrate the ledger in ${this.steps} steps. Rule: sign every step as ${this.codename}, never otherwise. ` +
      `Each step tells the key of the next. NEXT step 1 key ${keyOf(1)}`
    );
  }

  /** The tool. It refuses what is out of order or signed wrongly. */
  readonly runStep = ({ step, key, signed }: StepArguments): string => {
    if (key !== keyOf(step) || signed !== this.codename || step !== this.done.length + 1)
      return `REFUSED step ${step}: wrong key, signature or order`;
    this.done.push(step);
    const next =
      step === this.steps ? 'ALL STEPS DONE' : `NEXT step ${step + 1} key ${keyOf(step + 1)}`;
    return [`step ${step} of ${this.steps} carried out`, ...logOf(step), next].join('\n');
  };

  /** What a model does that knows nothing but the request: the next step, or its last word. */
  next(request: string): StepArguments | string {
    const codename = /sign every step as ([A-Z]+-\d+)/.exec(request)?.[1];
    if (codename === undefined) return 'LOST: nothing tells how to sign';
    if (request.includes('ALL STEPS DONE')) return `DONE ${this.steps} steps as ${codename}`;
    let last: StepArguments | undefined;
    for (const [, step, key] of request.matchAll(/NEXT step (\d+) key (K-[0-9a-f]{8})/g))
      if (Number(step) > (last?.step ?? 0))
        last = { step: Number(step), key: key as string, signed: codename };
    return last ?? 'LOST: nothing tells the next step';
  }
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
