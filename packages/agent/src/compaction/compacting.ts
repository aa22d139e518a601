import type { Fitted, Refusal, Usage } from '@bobbin/core';
import type { SummaryReport } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import { compactionEnd, isCompaction, verdictOf } from './compaction-report.ts';
import type { MachineEvent, Result } from '../loop/machine.ts';
import { addUsage, NO_USAGE } from '../model/usage.ts';

/** The compaction that may be under way: when it began, what it costs, and how it came out. */
export class Compacting {
  readonly #agent: Agent;
  readonly #onBegan: () => void;
  #usage: Usage = NO_USAGE;
  #isWanted = false;
  #wasAsked = false;
  #isUnderWay = false;
  #summaryFailed = false;
  #tokensBefore = 0;

  constructor(agent: Agent, onBegan: () => void) {
    this.#agent = agent;
    this.#onBegan = onBegan;
  }

  /** Starts something that may or may not compact. */
  reset(): void {
    this.#usage = NO_USAGE;
    this.#isWanted = false;
    this.#wasAsked = false;
    this.#isUnderWay = false;
    this.#summaryFailed = false;
    this.#tokensBefore = this.#agent.session.contextTokens;
  }

  /** The engine wants a summary. */
  want(): void {
    this.#isWanted = true;
  }

  begin(): void {
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    const { machine, emit } = this.#agent;
    emit({
      type: 'compaction-start',
      reason: machine.phase,
      tokensBefore: this.#tokensBefore,
    });
    this.#onBegan();
  }

  /** It did not finish: nothing has changed. */
  stop(reason: string): void {
    if (this.#isUnderWay) this.#agent.emit({ type: 'compaction-stopped', reason });
  }

  pay(report: SummaryReport): void {
    if (report.kind !== 'called') return;
    this.#wasAsked = true;
    this.#usage = addUsage(this.#usage, report.usage);
  }

  /** No model wrote the summary: the extract is used. */
  failSummary(): void {
    this.#wasAsked = true;
    this.#summaryFailed = true;
  }

  async asked(instructions: string | undefined, signal: AbortSignal): Promise<MachineEvent> {
    this.begin();
    const { session, emit } = this.#agent;
    if (instructions === undefined) return this.#ended(await session.compact({ signal }), signal);
    const fitted = await session.compact({ signal, instructions });
    const event = await this.#ended(fitted, signal);
    const why = this.#unheeded(fitted);
    if (why !== undefined)
      emit({ type: 'notice', text: `The instructions were not used: ${why}.` });
    return event;
  }

  /**
   * Why no model followed the instructions for a summary; undefined if one did, now or for the same messages before.
   */
  #unheeded({ events, compacted }: Fitted<unknown>): string | undefined {
    const { summaries, settings } = this.#agent.session.setting;
    if (!compacted) return undefined;
    if (!events.some(({ kind }) => kind === 'summarized'))
      return `${settings.compaction.preset ?? 'this compaction'} made no summary`;
    if (summaries === 'extract')
      return 'summaries are made without a model now; /model changes that';
    if (this.#summaryFailed)
      return 'the model failed to write the summary, and an extract replaces it';
    if (this.#isWanted && !this.#wasAsked) return 'there was too little to ask a model about';
    return undefined;
  }

  /** The provider counted more than the engine, which learns from it. */
  async forProvider(refusal: Refusal, signal: AbortSignal): Promise<MachineEvent> {
    this.begin();
    return this.#ended(await this.#agent.session.refused(refusal, signal), signal);
  }

  async #ended(fitted: Fitted<unknown>, signal: AbortSignal): Promise<MachineEvent> {
    const result = await this.report(fitted, signal);
    if (result === 'done' || result === 'by-extract') return { kind: 'compacted', result };
    this.stop('there is nothing to compact');
    return { kind: 'compacted', result: 'none' };
  }

  /** Emits what the engine did for a prompt, and returns how it came out. */
  async report(fitted: Fitted<unknown>, signal: AbortSignal): Promise<Result> {
    const { result, shortened } = verdictOf(fitted, this.#isUnderWay, this.#summaryFailed);
    if (shortened > 0)
      this.#agent.emit({
        type: 'notice',
        text: `${shortened === 1 ? 'A long result was' : `${shortened} long results were`} shortened; read_artifact gives the whole of it.`,
      });
    if (result !== 'done' && result !== 'by-extract') return result;
    this.begin();
    const { session } = this.#agent;
    const about = result === 'done' ? await session.about(signal) : undefined;
    // A plan that could not be kept holds in this process; the store that failed need not answer either.
    const events = await session.store.events(session.key).catch(() => []);
    const count = Math.max(1, events.filter(({ event }) => isCompaction(event)).length);
    const usage = this.#wasAsked ? this.#usage : undefined;
    const size = { tokensBefore: this.#tokensBefore, tokensAfter: session.contextTokens, count };
    this.#agent.emit(compactionEnd(fitted, size, usage));
    if (about !== undefined) this.#agent.emit({ type: 'notice', text: about });
    this.#agent.tellContext();
    return result;
  }
}
