import { errorText } from '../check/error-text.ts';
import type { EventDetail } from '../events.ts';
import type { ArtifactId, MessageId } from '../message/message.ts';
import { headOf } from '../message/text.ts';
import { type Plan } from '../plan/plan.ts';
import {
  recallFor,
  rehydrate,
  type ReminderSpace,
  type ReminderSources,
} from '../recall/reminder.ts';
import {
  isQuestion,
  newestArtifactReferences,
  REHYDRATION_LIMITS,
  newestTurnOf,
  wantedArtifacts,
  type RehydrationLimits,
  type NewestTurn,
} from '../recall/rehydrate.ts';
import type { PromptBuilder } from '../render/builder.ts';
import type { Node } from '../thread/thread.ts';
import type { SessionConfig } from './config/session-config.ts';
import {
  inTurn,
  placeFor,
  spaceTokens,
  withinReserve,
  withoutRewritten,
  withReminders,
  type Reminding,
} from './state/reminding.ts';
import type { SessionState } from './state/state.ts';

/** A state and what led to it. */
type Reminded = readonly [SessionState, readonly EventDetail[]];

const NOTHING_SHOWN: ReadonlyMap<ArtifactId, number> = new Map();

/** The present turn, the place of a reminder in it, and what the reminder may take. */
interface Occasion {
  readonly sources: ReminderSources;
  readonly limits: RehydrationLimits;
  readonly speech: NewestTurn;
  readonly nodes: readonly Node[];
  readonly at: number;
}

/**
 * Brings back what the present turn asks for: artifacts that it names, and compacted messages that answer its question.
 * A store that fails costs the reminder, never the prompt.
 */
export async function remind(
  config: SessionConfig<unknown>,
  before: SessionState,
  prompt: PromptBuilder,
): Promise<Reminded> {
  const { carried, tail } = before.thread.window(before.plan);
  const nodes = [...carried, ...tail];
  const speech = newestTurnOf(nodes);
  if (speech === undefined) return [before, []];
  const kept = inTurn(withoutRewritten(before, prompt), speech.turn);
  const state = { ...before, reminding: withinReserve(kept, before.config) };
  const at = placeFor(state, prompt, speech.openerIndex);
  if (at === undefined) return [state, []];
  const sources = { ...config, key: before.key, index: config.store };
  const limits = { ...REHYDRATION_LIMITS, ...config.rehydration };
  const occasion = { sources, limits, speech, nodes, at };
  const events: EventDetail[] = [];
  try {
    const brought = await bringArtifacts(config, state, occasion, events);
    return [await answerQuestion(brought, occasion, events), events];
  } catch (error) {
    const why = errorText(error);
    return [state, [{ kind: 'warning', message: `nothing could be brought back: ${why}` }]];
  }
}

async function bringArtifacts(
  { store }: SessionConfig<unknown>,
  before: SessionState,
  occasion: Occasion,
  events: EventDetail[],
): Promise<SessionState> {
  const { limits, speech } = occasion;
  const references = newestArtifactReferences(before.plan);
  if (wantedArtifacts(references, speech, NOTHING_SHOWN, limits).length === 0) return before;
  const broughtIn = before.reminding.broughtIn ?? broughtBefore(await store.events(before.key));
  let state: SessionState = { ...before, reminding: { ...before.reminding, broughtIn } };
  for (const { artifactId } of wantedArtifacts(references, speech, broughtIn, limits))
    state = await bringArtifact(state, artifactId, occasion, events);
  return state;
}

async function bringArtifact(
  state: SessionState,
  artifactId: ArtifactId,
  { sources, limits, speech, at }: Occasion,
  events: EventDetail[],
): Promise<SessionState> {
  const { reminding } = state;
  if (isPlaced(reminding, artifactId) || reminding.blocked.has(artifactId)) return state;
  if (broughtThisTurn(reminding) >= limits.mostArtifacts) return state;
  const space = spaceFor(state, limits);
  const found = await rehydrate(sources, artifactId, limits, space);
  if (found.kind !== 'shown') {
    if (found.kind === 'blocked')
      events.push({ kind: 'rehydration-blocked', artifactId, reason: found.reason });
    const blocked = new Set(reminding.blocked).add(artifactId);
    return { ...state, reminding: { ...reminding, blocked } };
  }
  const tokens = space.counter.message(found.reminder.message);
  events.push({ kind: 'rehydrated', artifactId, tokens, turn: speech.turn });
  const broughtIn = new Map(reminding.broughtIn).set(artifactId, speech.turn);
  return { ...state, reminding: { ...withReminders(state, [found.reminder], at), broughtIn } };
}

/** Once a turn, if the user asked something. */
async function answerQuestion(
  state: SessionState,
  { sources, limits, speech, nodes, at }: Occasion,
  events: EventDetail[],
): Promise<SessionState> {
  const [question = ''] = speech.texts;
  const head = nodes.at(-1);
  if (state.reminding.asked || head === undefined || !isQuestion(question)) return state;
  const space = spaceFor(state, limits);
  const shown = shownWhole(state.plan, nodes, state.reminding);
  const found = await recallFor(sources, question, { head: head.id, shown }, space);
  if (found.length > 0)
    events.push({ kind: 'retrieved', query: headOf(question, 200), found: found.length });
  return { ...state, reminding: { ...withReminders(state, found, at), asked: true } };
}

function spaceFor(state: SessionState, { tokensInAll }: RehydrationLimits): ReminderSpace {
  const { counter, policy } = state.config;
  return { counter, style: policy.style, tokens: spaceTokens(state, tokensInAll) };
}

function isPlaced({ placed }: Reminding, artifactId: ArtifactId): boolean {
  return placed.some(
    ({ source }) => source.kind === 'rehydrated' && source.artifactId === artifactId,
  );
}

function broughtThisTurn({ placed, turn }: Reminding): number {
  return placed.filter((each) => each.turn === turn && each.source.kind === 'rehydrated').length;
}

/** What the prompt shows as it came in, and what it is reminded of. */
function shownWhole(
  plan: Plan,
  nodes: readonly Node[],
  { placed }: Reminding,
): ReadonlySet<MessageId> {
  const changed = new Set(plan.records.flatMap(({ span }) => span.ids));
  const whole = nodes.map(({ id }) => id).filter((id) => !changed.has(id));
  const recalled = placed.flatMap(({ source }) => (source.kind === 'recalled' ? [source.id] : []));
  return new Set([...whole, ...recalled]);
}

/** In which turn each artifact was last brought back, as the store's events say. */
function broughtBefore(
  events: readonly { readonly event: EventDetail }[],
): ReadonlyMap<ArtifactId, number> {
  return new Map(
    events.flatMap(({ event }) =>
      event.kind === 'rehydrated' ? [[event.artifactId, event.turn] as const] : [],
    ),
  );
}
