import type { CompactionEvent } from '../events.ts';
import { sameShow } from '../plan/pin.ts';
import { emptyPlan, type Plan, type RenderStyle } from '../plan/plan.ts';
import type { Store, StoredWindow, ThreadKey } from '../ports.ts';
import type { MessageId } from '../thread/message.ts';

/** The plan in force of one path, with the ways to the plans before it. */
export class PlanKeeper {
  readonly #store: Store;
  readonly #key: ThreadKey;
  readonly #style: RenderStyle;
  #plan: Plan;
  #version: number;
  /** The newest version of the whole thread, other forks included: what a commit must expect. */
  #latest: number;

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

  /** Commits a plan. False where another writer was faster: then its plan is in force. */
  async commit(
    plan: Plan,
    events: readonly CompactionEvent[],
    head: MessageId | undefined,
  ): Promise<boolean> {
    const won = await this.#store.commit(this.#key, plan, this.#latest, events);
    if (won) {
      this.#plan = plan;
      this.#latest += 1;
      this.#version = this.#latest;
      return true;
    }
    const stored = await this.#store.window(this.#key, head);
    this.#plan = stored?.current?.plan ?? this.#plan;
    this.#version = stored?.current?.version ?? this.#version;
    this.#latest = stored?.version ?? this.#latest;
    return false;
  }

  /** Puts a plan in force that could not be committed: the next one that can be takes its place in the store. */
  hold(plan: Plan): void {
    this.#plan = plan;
  }

  async at(version: number): Promise<Plan> {
    if (version === this.#version) return this.#plan;
    if (version === 0) return this.#empty();
    const stored = await this.#store.plan(this.#key, version);
    if (stored === undefined)
      throw new RangeError(`thread ${this.#key.thread} has no plan of version ${version}`);
    return stored.plan;
  }

  /** The newest plan that was made for no more than so many messages. */
  async within(length: number): Promise<Plan> {
    for (let version = this.#version; version > 0; version--) {
      const plan = await this.at(version);
      if (plan.threadVersion <= length) return plan;
    }
    return this.#empty();
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
