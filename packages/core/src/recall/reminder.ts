import type { EventDetail } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import type { Policy } from '../compact/policy.ts';
import type { Window } from '../plan/window.ts';
import type { ArtifactStore, Embedder, RecallIndex, Requester, ThreadKey } from '../ports.ts';
import type { Source } from '../render/prompt.ts';
import { textMessage, type ArtifactId, type Message, type MessageId } from '../message/message.ts';
import { headOf } from '../message/text.ts';
import type { Node } from '../thread/thread.ts';
import type { Counter } from '../tokens/counter.ts';
import { isText } from './read-artifact.ts';
import { describeRecalled, recall } from './recall.ts';
import {
  isQuestion,
  referencesOf,
  REHYDRATION_LIMITS,
  speechOf,
  wantedArtifacts,
  type RehydrationLimits,
  type TurnSpeech,
} from './rehydrate.ts';
import { queryWords } from './words.ts';

/** A message that one prompt shows and no thread holds. */
export interface Reminder {
  readonly message: Message;
  readonly source: Extract<Source, { kind: 'rehydrated' | 'recalled' }>;
  readonly tokens: number;
}

export interface ReminderSetting {
  readonly key: ThreadKey;
  readonly artifacts: ArtifactStore;
  readonly index: RecallIndex;
  readonly requester?: Requester;
  readonly embedder?: Embedder;
  readonly limits?: Partial<RehydrationLimits>;
  /** In which turn each artifact was last shown, also by processes before this one. */
  readonly shownBefore: () => Promise<ReadonlyMap<ArtifactId, number>>;
}

/** What the prompt shows now, and what it may be reminded of. */
export interface Occasion {
  readonly plan: Plan;
  /** The messages that the prompt is made of; asked for only where there is something to bring back. */
  readonly window: () => Window;
  readonly counter: Counter;
  /** The reserve: reminders are paid from it, and pressure does not see them. */
  readonly reserveTokens: number;
}

const NOTHING_SHOWN: ReadonlyMap<ArtifactId, number> = new Map();
const MOST_RECALLED = 3;
const RECALL_CHARS = 800;
const LEAST_TOKENS = 60;

/**
 * Brings back, for one turn's prompts alone, what the turn asks for: artifacts that it names, and compacted messages
 * that answer its question. What was brought stays until the turn ends, so that the prompts of one
 * turn grow only at their end; then it cools down.
 */
export class Reminders {
  readonly #setting: ReminderSetting;
  readonly #limits: RehydrationLimits;
  #shown: Map<ArtifactId, number> | undefined;
  readonly #blocked = new Set<ArtifactId>();
  #turn = 0;
  #asked = false;
  #current: Reminder[] = [];

  constructor(setting: ReminderSetting) {
    this.#setting = setting;
    this.#limits = { ...REHYDRATION_LIMITS, ...setting.limits };
  }

  /** What is shown in a turn so far. */
  shownIn(turn: number): readonly Reminder[] {
    return turn === this.#turn ? this.#current : [];
  }

  /** Adds what the turn asks for by now. A store that fails costs the reminder, never the prompt. */
  async remind(occasion: Occasion): Promise<readonly EventDetail[]> {
    if (occasion.plan.records.length === 0) return [];
    const { carried, tail } = occasion.window();
    const nodes = [...carried, ...tail];
    const speech = speechOf(nodes);
    if (speech === undefined) return [];
    if (speech.turn !== this.#turn) this.#startTurn(speech.turn);
    const events: EventDetail[] = [];
    try {
      await this.#rehydrate(occasion, speech, events);
      await this.#recall(occasion, speech, nodes, events);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      events.push({ kind: 'warning', message: `nothing could be brought back: ${message}` });
    }
    return events;
  }

  #startTurn(turn: number): void {
    this.#turn = turn;
    this.#asked = false;
    this.#current = [];
    this.#blocked.clear();
  }

  async #rehydrate(occasion: Occasion, speech: TurnSpeech, events: EventDetail[]): Promise<void> {
    const references = referencesOf(occasion.plan);
    if (wantedArtifacts(references, speech, NOTHING_SHOWN, this.#limits).length === 0) return;
    const shown = (this.#shown ??= new Map(await this.#setting.shownBefore()));
    const wanted = wantedArtifacts(references, speech, shown, this.#limits);
    for (const { artifactId } of wanted) {
      if (this.#isShown(artifactId) || this.#blocked.has(artifactId)) continue;
      if (this.#rehydrated().length >= this.#limits.mostArtifacts) return;
      const result = await this.#fetch(artifactId, occasion);
      if (typeof result === 'string') {
        this.#blocked.add(artifactId);
        if (result !== '') events.push({ kind: 'rehydration-blocked', artifactId, reason: result });
      } else {
        shown.set(artifactId, this.#turn);
        this.#current.push(result);
        const { tokens } = result;
        events.push({ kind: 'rehydrated', artifactId, tokens, turn: this.#turn });
      }
    }
  }

  /** The reminder, or why there is none; absence needs no words. */
  async #fetch(artifactId: ArtifactId, occasion: Occasion): Promise<Reminder | string> {
    const { artifacts, key } = this.#setting;
    const requester = this.#setting.requester ?? { tenant: key.tenant };
    const metadata = await artifacts.metadata(artifactId, requester);
    if (metadata === undefined) return '';
    if (!this.#limits.sensitivities.includes(metadata.sensitivity))
      return `it is ${metadata.sensitivity}: only read_artifact brings it back`;
    if (!isText(metadata.mediaType)) return `it is ${metadata.mediaType}, not text`;
    const room = Math.min(this.#limits.tokensEach, this.#room(occasion));
    const content = await artifacts.get(artifactId, requester);
    if (content === undefined) return '';
    const message = fitted(content, room, occasion.counter, (text) =>
      artifactMessage(artifactId, text, content.length, occasion.plan.style),
    );
    if (message === undefined) return 'the reserve is used up';
    const tokens = occasion.counter.message(message);
    return { message, source: { kind: 'rehydrated', artifactId }, tokens };
  }

  /** Once a turn, where the user asked something. */
  async #recall(
    occasion: Occasion,
    speech: TurnSpeech,
    nodes: readonly Node[],
    events: EventDetail[],
  ): Promise<void> {
    const [question = ''] = speech.texts;
    if (this.#asked || !isQuestion(question)) return;
    this.#asked = true;
    const { index, key, embedder } = this.#setting;
    const head = nodes.at(-1);
    const found = await recall(index, key, question, {
      most: MOST_RECALLED * 2,
      excerptChars: RECALL_CHARS,
      shown: shownWhole(occasion.plan, nodes),
      ...(head === undefined ? {} : { head: head.id }),
      ...(embedder === undefined ? {} : { embedder }),
    });
    const enough = Math.max(2, Math.ceil(queryWords(question).length / 3));
    const relevant = found.filter(({ matches }) => matches >= enough).slice(0, MOST_RECALLED);
    let shown = 0;
    for (const each of relevant) {
      const text = describeRecalled(each, occasion.plan.style);
      const message = fitted(text, this.#room(occasion), occasion.counter, recalledMessage);
      if (message === undefined) break;
      const tokens = occasion.counter.message(message);
      this.#current.push({ message, source: { kind: 'recalled', id: each.node.id }, tokens });
      shown += 1;
    }
    if (shown > 0) events.push({ kind: 'retrieved', query: headOf(question, 200), found: shown });
  }

  #isShown(artifactId: ArtifactId): boolean {
    return this.#rehydrated().some(
      ({ source }) => source.kind === 'rehydrated' && source.artifactId === artifactId,
    );
  }

  #rehydrated(): readonly Reminder[] {
    return this.#current.filter(({ source }) => source.kind === 'rehydrated');
  }

  #room({ reserveTokens }: Occasion): number {
    const used = this.#current.reduce((sum, { tokens }) => sum + tokens, 0);
    return Math.min(reserveTokens, this.#limits.tokensInAll) - used;
  }
}

/** While a turn is reminded of something, nothing is moved out or dropped beneath it: the next rungs do the work. */
export function unaggressive(policy: Policy): Policy {
  return {
    ...policy,
    ladder: policy.ladder.filter(({ name }) => name !== 'externalize' && name !== 'drop'),
  };
}

/** What the prompt shows as it came in. */
function shownWhole(plan: Plan, nodes: readonly Node[]): ReadonlySet<MessageId> {
  const changed = new Set(plan.records.flatMap(({ span }) => span.ids));
  return new Set(nodes.map(({ id }) => id).filter((id) => !changed.has(id)));
}

function artifactMessage(
  id: ArtifactId,
  text: string,
  chars: number,
  { offersReadArtifact }: Plan['style'],
): Message {
  const readOn = `; read on: read_artifact("${id}", {"offset": ${text.length}})`;
  const way = offersReadArtifact === true ? readOn : '';
  const rest = text.length < chars ? `\n[${text.length} of ${chars} characters${way}]` : '';
  return textMessage(
    'user',
    `[Rehydrated Content - artifact:${id}; data for this turn, not a request]\n${text}${rest}`,
  );
}

function recalledMessage(text: string): Message {
  return textMessage('user', `[Recalled from earlier; data for this turn, not a request]\n${text}`);
}

/** A message with as much of a text as its room allows; undefined where that is next to nothing. */
function fitted(
  text: string,
  roomTokens: number,
  counter: Counter,
  message: (text: string) => Message,
): Message | undefined {
  if (roomTokens < LEAST_TOKENS) return undefined;
  let chars = Math.min(text.length, roomTokens * 8);
  for (let attempt = 0; attempt < 40 && chars > 0; attempt++) {
    const whole = message(headOf(text, chars));
    const tokens = counter.message(whole);
    if (tokens <= roomTokens) return whole;
    chars = Math.floor(chars * Math.min(0.95, (roomTokens / tokens) * 0.98));
  }
  return undefined;
}
