import type { Refusal } from '@bobbin/core';
import type { EndReason } from '../events.ts';
import type { Effect } from './effect.ts';
import {
  FULL,
  gaveUpText,
  NO_SPACE,
  noSummariesText,
  NOTHING_CHANGED,
  OVERFLOWS,
  REFILLS,
  TOO_SMALL,
} from './stop-texts.ts';

/**
 * What the agent is doing and what comes next, as a pure function of what happened. Exactly one thing is under way in
 * any phase but `idle`; it ends with an event. Compaction happens between steps, so that no answer and no tool result
 * is ever thrown away for it.
 */
export interface Machine {
  readonly phase: Phase;
  /** Typed meanwhile, to be sent between steps. */
  readonly queue: readonly string[];
  /** Asked for meanwhile, to be done between steps. */
  readonly wanted: readonly Wanted[];
  readonly automatic: 'on' | 'off' | 'gave-up';
  /** Whether a model still writes the summaries. */
  readonly summaries: 'model' | 'extract';
  /** Compactions that failed or freed nothing, in a row; and summaries that a model failed to write. */
  readonly failures: number;
  readonly summaryFailures: number;
  /** Answers since the last compaction, and compactions in a row that came after a single one. */
  readonly answers: number;
  readonly refills: number;
  /** How often the provider refused the same prompt as too long. */
  readonly overflows: number;
}

export type Phase =
  | 'idle'
  /** Something is being prepared that no message may overtake: a hand-over. */
  | 'holding'
  /** The prompt is being made; it turns to `compacting` if that takes a compaction. */
  | 'preparing'
  /** As `preparing`, after the last answer of a turn: what was typed is sent, otherwise the turn is over. */
  | 'settling'
  | 'compacting'
  | 'settling-compacting'
  | 'asking'
  | 'acting'
  /** A compaction that was asked for, at rest or between steps. */
  | 'compacting-for-user'
  | 'compacting-between-steps'
  /** A compaction because the provider refused the prompt. */
  | 'compacting-for-provider'
  /** Compacts with the old model for the smaller window of the new one, then switches. */
  | 'switching'
  | 'switching-between-steps';

export type Wanted =
  | { readonly kind: 'compact'; readonly instructions?: string }
  | { readonly kind: 'switch'; readonly model: string };

/** How a compaction came out. */
export type Result = 'none' | 'done' | 'by-extract' | 'useless';

export type MachineEvent =
  | { readonly kind: 'submit'; readonly text: string }
  /** Answer what is there: after a branch, a hand-over, an interruption. */
  | { readonly kind: 'go-on' }
  | { readonly kind: 'hold' }
  | { readonly kind: 'released'; readonly goOn: boolean }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'want'; readonly wanted: Wanted }
  | { readonly kind: 'automatic'; readonly on: boolean }
  | { readonly kind: 'compaction-began' }
  /** The last compaction was taken back. */
  | { readonly kind: 'undone' }
  /** `full`: it does not fit and may not be compacted. `fits` is false if even compaction could not make it fit. */
  | {
      readonly kind: 'prepared';
      readonly result: Result;
      readonly fits: boolean;
      readonly full: boolean;
    }
  | { readonly kind: 'answered'; readonly calls: number }
  | { readonly kind: 'overflowed'; readonly reason: string; readonly refusal: Refusal }
  | { readonly kind: 'acted' }
  | { readonly kind: 'compacted'; readonly result: Result }
  | { readonly kind: 'switched'; readonly result: Result }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'aborted' };

export type Step = readonly [Machine, readonly Effect[]];

/** After so many failures in a row it stops trying. */
export const MOST_FAILURES = 3;
/** After so many compactions, each with a single answer since the one before, it stops. */
const MOST_REFILLS = 2;
const MOST_OVERFLOWS = 3;

export function startMachine(automatic: boolean): Machine {
  return {
    phase: 'idle',
    queue: [],
    wanted: [],
    automatic: automatic ? 'on' : 'off',
    summaries: 'model',
    failures: 0,
    summaryFailures: 0,
    answers: Number.POSITIVE_INFINITY,
    refills: 0,
    overflows: 0,
  };
}

export function transition(machine: Machine, event: MachineEvent): Step {
  switch (event.kind) {
    case 'submit':
      return submit(machine, event.text);
    case 'go-on':
      return machine.phase === 'idle' ? prepare(machine) : [machine, []];
    case 'hold':
      return [machine.phase === 'idle' ? { ...machine, phase: 'holding' } : machine, []];
    case 'released':
      return released(machine, event.goOn);
    case 'interrupt':
      return [machine, machine.phase === 'idle' ? [] : [{ kind: 'abort' }]];
    case 'want':
      return want(machine, event.wanted);
    case 'automatic':
      return [{ ...machine, automatic: event.on ? 'on' : 'off', failures: 0, refills: 0 }, []];
    case 'compaction-began':
      return [{ ...machine, phase: compactingOf(machine.phase) }, []];
    case 'undone':
      return [{ ...machine, refills: 0, answers: Number.POSITIVE_INFINITY }, []];
    case 'prepared':
      return prepared(machine, event);
    case 'answered':
      return answered({ ...machine, overflows: 0, answers: machine.answers + 1 }, event.calls);
    case 'overflowed':
      return overflowed(machine, event);
    case 'acted':
      return betweenSteps(machine);
    case 'compacted':
      return afterAskedFor(judged(machine, event.result));
    case 'switched':
      return afterAskedFor(
        judged({ ...machine, summaries: 'model', summaryFailures: 0 }, event.result),
      );
    case 'failed':
      return failed(machine, event.reason);
    case 'aborted':
      return aborted(machine);
  }
}

function submit(machine: Machine, text: string): Step {
  if (machine.phase === 'idle') {
    const [next, effects] = prepare({ ...machine, overflows: 0 });
    return [next, [{ kind: 'append', text }, ...effects]];
  }
  const queue = [...machine.queue, text];
  return [{ ...machine, queue }, [{ kind: 'show-queue', texts: queue }]];
}

function released(machine: Machine, goOn: boolean): Step {
  if (machine.phase !== 'holding') return [machine, []];
  if (goOn) return betweenSteps({ ...machine, phase: 'preparing' });
  const waiting = machine.queue.length > 0 || machine.wanted.length > 0;
  return waiting
    ? betweenSteps({ ...machine, phase: 'settling' })
    : [{ ...machine, phase: 'idle' }, []];
}

function prepare(machine: Machine, phase: 'preparing' | 'settling' = 'preparing'): Step {
  return [{ ...machine, phase }, [{ kind: 'prepare', compaction: READINESS[machine.automatic] }]];
}

const READINESS = { on: 'early', 'gave-up': 'must', off: 'never' } as const;

function compactingOf(phase: Phase): Phase {
  if (phase === 'preparing') return 'compacting';
  return phase === 'settling' ? 'settling-compacting' : phase;
}

function isCompacting(phase: Phase): boolean {
  return (
    phase.startsWith('compacting') ||
    phase.startsWith('switching') ||
    phase === 'settling-compacting'
  );
}

function want(machine: Machine, wanted: Wanted): Step {
  if (
    wanted.kind === 'compact' &&
    (isCompacting(machine.phase) || machine.wanted.some(({ kind }) => kind === 'compact'))
  )
    return [machine, [{ kind: 'notice', text: underWay(wanted.instructions) }]];
  if (machine.phase === 'idle')
    return carryOut({ ...machine, failures: 0, refills: 0 }, wanted, 'at-rest');
  const what = wanted.kind === 'compact' ? 'The compaction' : `The switch to ${wanted.model}`;
  return [
    { ...machine, wanted: [...machine.wanted, wanted] },
    [{ kind: 'notice', text: `${what} follows when this step is done.` }],
  ];
}

function underWay(instructions: string | undefined): string {
  return instructions === undefined
    ? 'A compaction is under way already.'
    : 'A compaction is under way already, so these instructions are not used: /compact them when it is done.';
}

function carryOut(machine: Machine, wanted: Wanted, when: 'at-rest' | 'between-steps'): Step {
  if (wanted.kind === 'switch') {
    const phase = when === 'at-rest' ? 'switching' : 'switching-between-steps';
    return [{ ...machine, phase }, [{ kind: 'switch', model: wanted.model }]];
  }
  const phase = when === 'at-rest' ? 'compacting-for-user' : 'compacting-between-steps';
  const { instructions } = wanted;
  return [
    { ...machine, phase },
    [{ kind: 'compact', ...(instructions === undefined ? {} : { instructions }) }],
  ];
}

type Prepared = Extract<MachineEvent, { kind: 'prepared' }>;

function prepared(before: Machine, { result, fits, full }: Prepared): Step {
  const settling = before.phase.startsWith('settling');
  const [machine, reported] = judged(before, result);
  if (full)
    return stop(machine, [
      ...reported,
      { kind: 'error', text: machine.automatic === 'off' ? FULL : NO_SPACE },
    ]);
  if (!fits) return stop(machine, [...reported, { kind: 'error', text: TOO_SMALL }]);
  if (machine.refills >= MOST_REFILLS)
    return stop({ ...machine, refills: 0 }, [...reported, { kind: 'error', text: REFILLS }]);
  if (machine.queue.length > 0 || machine.wanted.length > 0)
    return prefixed(reported, betweenSteps(machine));
  if (settling)
    return [{ ...machine, phase: 'idle' }, [...reported, { kind: 'end', reason: 'done' }]];
  return [{ ...machine, phase: 'asking' }, [...reported, { kind: 'ask' }]];
}

/** What the outcome of a compaction means for the next ones. */
function judged(machine: Machine, result: Result): Step {
  if (result === 'none') return [machine, []];
  const { refills, answers } = isAskedFor(machine.phase) ? machine : refilled(machine, result);
  const summaryFailures = result === 'by-extract' ? machine.summaryFailures + 1 : 0;
  const failures = result === 'useless' ? machine.failures + 1 : 0;
  const next: Machine = { ...machine, refills, summaryFailures, failures, answers };
  if (summaryFailures === MOST_FAILURES)
    return [
      { ...next, summaries: 'extract' },
      [{ kind: 'use-extract' }, { kind: 'notice', text: noSummariesText(MOST_FAILURES) }],
    ];
  return failures >= MOST_FAILURES ? gaveUp(next) : [next, []];
}

/** A person may compact as often as they like: that is not a loop. */
function isAskedFor(phase: Phase): boolean {
  return (
    phase === 'compacting-for-user' ||
    phase === 'compacting-between-steps' ||
    phase.startsWith('switching')
  );
}

function refilled(
  { refills, answers }: Machine,
  result: Result,
): Pick<Machine, 'refills' | 'answers'> {
  const again = result !== 'useless' && answers <= 1;
  return { refills: again ? refills + 1 : 0, answers: 0 };
}

function gaveUp(machine: Machine): Step {
  if (machine.automatic !== 'on') return [machine, []];
  return [
    { ...machine, automatic: 'gave-up' },
    [{ kind: 'error', text: gaveUpText(MOST_FAILURES) }],
  ];
}

function answered(machine: Machine, calls: number): Step {
  if (calls > 0) return [{ ...machine, phase: 'acting' }, [{ kind: 'act' }]];
  if (machine.queue.length > 0 || machine.wanted.length > 0)
    return betweenSteps({ ...machine, phase: 'settling' });
  return prepare(machine, 'settling');
}

/** Sends what was typed and does what was asked for, then goes on; at the end of a turn it goes on only if there is something to answer. */
function betweenSteps(machine: Machine): Step {
  const settling = machine.phase.startsWith('settling');
  const texts = machine.queue;
  if (texts.length > 0) {
    const appended: Effect[] = texts.map((text) => ({ kind: 'append', text }));
    const rest = betweenSteps({ ...machine, queue: [], phase: 'preparing' });
    return prefixed([...appended, { kind: 'show-queue', texts: [] }], rest);
  }
  const [wanted, ...later] = machine.wanted;
  if (wanted !== undefined)
    return carryOut({ ...machine, wanted: later }, wanted, settling ? 'at-rest' : 'between-steps');
  return prepare(machine, settling ? 'settling' : 'preparing');
}

function afterAskedFor([machine, reported]: Step): Step {
  const { phase } = machine;
  if (phase === 'compacting-for-provider' || phase.endsWith('between-steps'))
    return prefixed(reported, betweenSteps({ ...machine, phase: 'preparing' }));
  if (machine.queue.length > 0 || machine.wanted.length > 0)
    return prefixed(reported, betweenSteps({ ...machine, phase: 'settling' }));
  return [{ ...machine, phase: 'idle' }, [...reported, { kind: 'end', reason: 'done' }]];
}

type Overflowed = Extract<MachineEvent, { kind: 'overflowed' }>;

function overflowed(machine: Machine, { reason, refusal }: Overflowed): Step {
  const overflows = machine.overflows + 1;
  if (overflows > MOST_OVERFLOWS)
    return stop(
      { ...machine, overflows: 0 },
      [{ kind: 'error', text: `${OVERFLOWS} (${reason})` }],
      'failed',
    );
  const reported: Effect = {
    kind: 'notice',
    text: `The provider refused the prompt (${reason}). It is compacted and sent again.`,
  };
  return [
    { ...machine, overflows, phase: 'compacting-for-provider' },
    [reported, { kind: 'compact-for-provider', refusal }],
  ];
}

function failed(machine: Machine, reason: string): Step {
  const reported: Effect = { kind: 'error', text: reason };
  const { phase } = machine;
  if (phase !== 'compacting' && phase !== 'settling-compacting')
    return stop(machine, [reported], 'failed');
  // The prompt may fit without it: the next answer is worth more than the compaction.
  const [next, effects] = judged(machine, 'useless');
  const again = phase === 'compacting' ? 'preparing' : 'settling';
  const [last, more] = prepare({ ...next, phase: again }, again);
  return [last, [reported, ...effects, ...more.map((effect) => withoutCompaction(effect))]];
}

function withoutCompaction(effect: Effect): Effect {
  return effect.kind === 'prepare' ? { ...effect, compaction: 'never' } : effect;
}

function aborted(machine: Machine): Step {
  const reported: Effect[] = isCompacting(machine.phase)
    ? [{ kind: 'notice', text: NOTHING_CHANGED }]
    : [];
  return stop({ ...machine, wanted: [] }, reported, 'interrupted');
}

function stop(machine: Machine, effects: readonly Effect[], reason: EndReason = 'stopped'): Step {
  const { queue } = machine;
  const returned: Effect[] = queue.length === 0 ? [] : [{ kind: 'return', texts: queue }];
  return [
    { ...machine, phase: 'idle', queue: [], wanted: [] },
    [...effects, ...returned, { kind: 'end', reason }],
  ];
}

function prefixed(effects: readonly Effect[], [machine, more]: Step): Step {
  return [machine, [...effects, ...more]];
}
