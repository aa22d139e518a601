import type { Plan, Prompt } from '@bobbin/core';
import type { Thread } from '@bobbin/core/internal';
import {
  inOrder,
  keptIsIdentical,
  nothingTwice,
  nothingVanishes,
  pinsWhole,
  reminders,
} from './laws/accounting.ts';
import { budget } from './laws/budget.ts';
import { deterministic, growsAtTheEnd } from './laws/determinism.ts';
import { cachePoints, wholeCharacters } from './laws/form.ts';
import { pairs } from './laws/pairs.ts';
import { planShape } from './laws/plan-shape.ts';
import { signedReasoning } from './laws/reasoning.ts';
import { roles } from './laws/roles.ts';
import {
  sceneOf,
  type Breach,
  type LawContext,
  type Scene,
  type SentPrompt,
} from './laws/scene.ts';
import { promptLines } from './prompt-lines.ts';

export type { Breach, LawContext, SentPrompt };

const LAWS: readonly ((scene: Scene) => Iterable<Breach>)[] = [
  planShape,
  pairs,
  roles,
  budget,
  nothingTwice,
  reminders,
  keptIsIdentical,
  inOrder,
  nothingVanishes,
  pinsWhole,
  signedReasoning,
  cachePoints,
  wholeCharacters,
  deterministic,
  growsAtTheEnd,
];

/** A prompt that breaks a law. The message names the laws, the messages and the seed, and shows the prompt. */
export class LawError extends Error {
  override readonly name = 'LawError';
  readonly breaches: readonly Breach[];

  constructor(found: readonly Breach[], prompt: Prompt, seed?: number | string) {
    const where = seed === undefined ? '' : ` (seed ${seed})`;
    super(
      [
        `invalid prompt${where}:`,
        ...found.map(({ law, detail }) => `- ${law}: ${detail}`),
        'the prompt:',
        ...promptLines(prompt).map((line) => `  ${line}`),
      ].join('\n'),
    );
    this.breaches = found;
  }
}

/** Every law that a prompt breaks. `thread` is the whole thread with its head at the time of the prompt. */
export function breaches(
  thread: Thread,
  plan: Plan,
  prompt: Prompt,
  context: LawContext,
): readonly Breach[] {
  const scene = sceneOf(thread, plan, prompt, context);
  const found: Breach[] = [];
  for (const law of LAWS) for (const breach of law(scene)) found.push(breach);
  return found;
}

/**
 * Throws unless a prompt keeps every law: pairs together, roles in order, first message acceptable, within budget,
 * nothing duplicated, nothing lost, kept means identical, pins whole, signed reasoning only after its own prefix,
 * rendering deterministic, and with one plan each prompt a prefix of the next. Call it in every test that renders.
 */
export function expectValid(thread: Thread, plan: Plan, prompt: Prompt, context: LawContext): void {
  const found = breaches(thread, plan, prompt, context);
  if (found.length > 0) throw new LawError(found, prompt, context.seed);
}
