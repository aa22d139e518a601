import type { CompactionEvent } from '../events.ts';
import { sameShow } from '../plan/pins.ts';
import { emptyPlan, type Plan, type RenderStyle } from '../plan/plan.ts';
import type { Store, StoredWindow, ThreadKey } from '../ports.ts';
import type { MessageId } from '../message/message.ts';

/** What became of a plan that was to be put in force. */
export type Enforced =
  | { readonly kind: 'committed' }
  | { readonly kind: 'lost' }
  | { readonly kind: 'held'; readonly why: string };

/** The plan in force of one path, with the ways to the plans before it. */
export class PlanKeeper {
  readonly #store: Store;
  readonly #key: ThreadKey;
  readonly #style: RenderStyle;
  #plan: Plan;
  #version: number;
  /** The newest version of the whole thread, other forks included: what a commit must expect. */
  #latest: number;
  /** Plans that could not be committed, oldest first: each stands on the one before it. */
  #held: readonly { readonly plan: Plan; readonly events: readonly CompactionEvent[] }[] = [];

  constructor(store: Store, key: ThreadKey, style: RenderStyle, stored: StoredWindow | undefined) {
    this.#store = store;
    this.#key = key;
    this.#style = style;
    this.#plan = stored?.current?.plan ?? this.#empty();
    this.#version = stored?.current?.version ?? 0;
    this.#latest = stored?.version ?? 0;
  }

  get plan(): Plan {
    return this.#plan;
  }

  get version(): number {
    return this.#version;
  }

  /** Commits a plan behind those that are held. False where another writer was faster: then its plan is in force. */
  async commit(
    plan: Plan,
    events: readonly CompactionEvent[],
    head: MessageId | undefined,
  ): Promise<boolean> {
    if (!(await this.settle(head)) || !(await this.#commitNext(plan, events, head))) return false;
    this.#plan = plan;
    return true;
  }

  /** Commits what is held: no compaction is missing between the plans of a store. False as `commit`. */
  async settle(head: MessageId | undefined): Promise<boolean> {
    for (const { plan, events } of this.#held) {
      if (!(await this.#commitNext(plan, events, head))) return false;
      this.#held = this.#held.slice(1);
    }
    return true;
  }

  /**
   * Puts a plan in force. A store that fails costs the record of it, never the prompt (A10): it is held in this process,
   * and committed before the next one that can be.
   */
  async enforce(
    plan: Plan,
    events: readonly CompactionEvent[],
    head: MessageId | undefined,
  ): Promise<Enforced> {
    try {
      return { kind: (await this.commit(plan, events, head)) ? 'committed' : 'lost' };
    } catch (error) {
      this.#held = [...this.#held, { plan, events }];
      this.#plan = plan;
      return { kind: 'held', why: error instanceof Error ? error.message : String(error) };
    }
  }

  async #commitNext(
    plan: Plan,
    events: readonly CompactionEvent[],
    head: MessageId | undefined,
  ): Promise<boolean> {
    if (await this.#store.commit(this.#key, plan, this.#latest, events)) {
      this.#latest += 1;
      this.#version = this.#latest;
      return true;
    }
    const stored = await this.#store.window(this.#key, head);
    this.#held = [];
    this.#plan = stored?.current?.plan ?? this.#plan;
    this.#version = stored?.current?.version ?? this.#version;
    this.#latest = stored?.version ?? this.#latest;
    return false;
  }

  async at(version: number): Promise<Plan> {
    return version === this.#version ? this.#plan : this.#read(version);
  }

  async #read(version: number): Promise<Plan> {
    if (version === 0) return this.#empty();
    const stored = await this.#store.plan(this.#key, version);
    if (stored === undefined)
      throw new RangeError(`thread ${this.#key.thread} has no plan of version ${version}`);
    return stored.plan;
  }

  /** The newest plan that was made for no more than so many messages. */
  async within(length: number): Promise<Plan> {
    let plan = this.#plan;
    for (let version = this.#version; plan.threadVersion > length; version--)
      plan = await this.#read(version);
    return plan;
  }

  /**
   * The plan that an undo brings back, with the version that it takes back; undefined where there is none. What pins
   * alone have changed is no compaction, and what was undone before is not brought back.
   */
  async undone(isOnPath: (plan: Plan) => Promise<boolean>): Promise<[Plan, number] | undefined> {
    let after = this.#plan;
    for (let version = this.#version; version > 0; version--) {
      version = Math.min(version, after.undid ?? version);
      const before = await this.at(version - 1);
      if (!(await isOnPath(before))) continue;
      const isNoStep = after.undid === version || sameShow(before, after);
      if (!isNoStep && !sameShow(before, this.#plan)) return [before, version];
      after = before;
    }
    return undefined;
  }

  #empty(): Plan {
    return emptyPlan(this.#key.thread, this.#style);
  }
}
