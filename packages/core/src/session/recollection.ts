import type { EventDetail } from '../events.ts';
import type { CompactorConfig } from '../compact/compact.ts';
import type { Plan } from '../plan/plan.ts';
import type { Window } from '../plan/window.ts';
import type { ThreadKey } from '../ports.ts';
import type { PromptMessage } from '../render/prompt.ts';
import { embedCompacted } from '../recall/recall.ts';
import { insertion, type Insertion } from '../recall/reminded-prompt.ts';
import { Reminders, unaggressive } from '../recall/reminder.ts';
import type { ArtifactId } from '../message/message.ts';
import type { SessionConfig } from './config/session-config.ts';

/** What a thread's prompts are reminded of, from the store and back into it. */
export class Recollection {
  readonly #key: ThreadKey;
  readonly #host: Omit<SessionConfig<unknown>, 'codec'>;
  readonly #reminders: Reminders;
  /** What the last prompt was reminded of and where; undefined where another process may have sent it. */
  #sent: string | undefined = '[]';
  #embedding: Promise<unknown> = Promise.resolve();

  constructor(key: ThreadKey, host: Omit<SessionConfig<unknown>, 'codec'>) {
    this.#key = key;
    this.#host = host;
    this.#reminders = new Reminders({
      ...host,
      key,
      index: host.store,
      limits: host.rehydration,
      shownBefore: () => this.#shownBefore(),
    });
  }

  /** A plan was made elsewhere: its prompts may have been reminded of anything. */
  takeOver(plan: Plan): void {
    if (plan.records.length > 0) this.forget();
  }

  /** What went out before is no longer what was said before. */
  forget(): void {
    this.#sent = undefined;
  }

  /** Brings back what the present turn asks for, paid from the reserve. */
  remind(
    plan: Plan,
    window: () => Window,
    { counter, budget }: CompactorConfig,
  ): Promise<readonly EventDetail[]> {
    const reserveTokens = budget.rehydrationTokens;
    return this.#reminders.remind({ plan, window, counter, reserveTokens });
  }

  /** The setting for a turn: while something was brought back, nothing else is moved out beneath it. */
  calm(setting: CompactorConfig, turn: number): CompactorConfig {
    return this.#reminders.shownIn(turn).length === 0
      ? setting
      : { ...setting, policy: unaggressive(setting.policy) };
  }

  /** Where the reminders of a turn stand in a prompt. */
  insertion(
    messages: readonly PromptMessage[],
    { rules, counter, budget }: CompactorConfig,
    turn: number,
  ): Insertion {
    const reminders = this.#reminders.shownIn(turn);
    return insertion(messages, reminders, rules, counter, budget.rehydrationTokens);
  }

  /** Notes what goes out. */
  send(reminded: Insertion): void {
    this.#sent = sourcesOf(reminded);
  }

  /** True where it may be other than what went out before. */
  differs(reminded: Insertion): boolean {
    return this.#sent !== sourcesOf(reminded);
  }

  /** Vectors for what was compacted, behind the prompt's back: recall finds it by its words meanwhile. */
  embed(onFailure: (reason: string) => void): void {
    const { embedder, store } = this.#host;
    if (embedder === undefined) return;
    const work = this.#embedding.then(() => embedCompacted(store, this.#key, embedder));
    this.#embedding = work.catch((error: unknown) =>
      onFailure(error instanceof Error ? error.message : String(error)),
    );
  }

  async #shownBefore(): Promise<ReadonlyMap<ArtifactId, number>> {
    const events = await this.#host.store.events(this.#key);
    return new Map(
      events.flatMap(({ event }) =>
        event.kind === 'rehydrated' ? [[event.artifactId, event.turn] as const] : [],
      ),
    );
  }
}

function sourcesOf({ at, messages }: Insertion): string {
  const sources = messages.map(({ source }) => source);
  return JSON.stringify(sources.length === 0 ? [] : [at, ...sources]);
}
