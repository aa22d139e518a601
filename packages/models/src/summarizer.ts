import {
  ANSWER_SCHEMA,
  chunks,
  decodeAnswer,
  estimator,
  formatMessage,
  modelFacts,
  promptVersion,
  proseSummary,
  redactSecrets,
  splitTurnPrompt,
  summaryPrompt,
  type AnswerForm,
  type Counter,
  type Node,
  type PromptStyle,
  type PromptTexts,
  type Redact,
  type Summarizer,
  type Summary,
  type SummaryRequest,
  type Usage,
} from '@bobbin/core';
import type { LanguageModel, ModelMessage, ToolSet } from 'ai';
import { callModel, type CallOutcome, type ModelCall } from './summarizer-call.ts';
import { mergedAnswers } from './summarizer-fold.ts';

/** The prompt that a host sends its agent, as it sent it last: a call that begins with it is read from the cache. */
export interface LivePrompt {
  readonly system?: string;
  readonly tools?: ToolSet;
  readonly messages: readonly ModelMessage[];
}

export interface ModelSummarizerOptions {
  readonly model: LanguageModel;
  readonly style?: PromptStyle;
  /** Structured output, or free text for models that cannot give any. */
  readonly answer?: AnswerForm;
  /**
   * Extends the live prompt instead of sending the messages anew: for a summary by the agent's own model. Undefined
   * where there is none at the moment.
   */
  readonly live?: () => LivePrompt | undefined;
  /** The model's window; looked up by its id where absent. */
  readonly windowTokens?: number;
  /** Caps the output below what the request allows. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** For the whole summary, repeated calls and waits included. */
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly counter?: Counter;
  readonly redact?: Redact;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_RETRIES = 3;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** The share of the window that a call may fill: counts are estimates (B20). */
const EFFECTIVE_WINDOW = 0.95;
/** JSON of the schema takes about twice the tokens of the text that it becomes. */
const STRUCTURED_FACTOR = 2;
/** What is left out at once, of the oldest, when the call itself overflows. */
const LEFT_OUT_SHARE = 0.25;

/**
 * A summarizer over any model of the AI SDK. It rejects, with the reason, where the model gives no summary worth
 * keeping: no answer, one that is blank, cut off, refused or off its schema. What it returns is the model's word; wrap
 * it in core's `trustedSummarizer` to have it verified.
 */
export function modelSummarizer(options: ModelSummarizerOptions): Summarizer {
  const { model, style = 'hand-over', answer = 'structured' } = options;
  const name = typeof model === 'string' ? model : `${model.provider}:${model.modelId}`;
  return {
    id: `${name}+${promptVersion(style, answer)}`,
    summarize: (request: SummaryRequest) =>
      new Summarizing(options, { name, style, answer }, request).summary(),
  };
}

interface Manner {
  readonly name: string;
  readonly style: PromptStyle;
  readonly answer: AnswerForm;
}

/** A message as the model reads it. */
interface Item {
  readonly text: string;
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

/** The making of one summary: as many calls as it takes, one deadline, one bill. */
class Summarizing {
  readonly #options: ModelSummarizerOptions;
  readonly #manner: Manner;
  readonly #request: SummaryRequest;
  readonly #signal: AbortSignal;
  readonly #counter: Counter;
  readonly #started = performance.now();
  #usage = NO_USAGE;
  #attempts = 0;

  constructor(options: ModelSummarizerOptions, manner: Manner, request: SummaryRequest) {
    this.#options = options;
    this.#manner = manner;
    this.#request = request;
    this.#counter = options.counter ?? estimator();
    const late = AbortSignal.timeout(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    this.#signal = request.signal === undefined ? late : AbortSignal.any([request.signal, late]);
  }

  async summary(): Promise<Summary> {
    try {
      const { nodes, splitTurn } = this.#request;
      const range = nodes.filter(({ turn }) => turn !== splitTurn?.turn);
      const prefix = nodes.filter(({ turn }) => turn === splitTurn?.turn);
      const summary = range.length > 0 ? await this.#range(range) : proseSummary('', this.#request);
      if (splitTurn === undefined || prefix.length === 0) return summary;
      const text = await this.#prefix(prefix, splitTurn.maxTokens);
      return { ...summary, splitTurn: { turn: splitTurn.turn, text } };
    } finally {
      this.#tellCost();
    }
  }

  async #range(nodes: readonly Node[]): Promise<Summary> {
    const live = this.#options.live?.();
    if (live !== undefined) {
      const summary = await this.#extended(live);
      if (summary !== undefined) return summary;
    }
    return this.#folded(this.#items([...nodes, ...this.#request.overlap]));
  }

  /** By a call that goes on from the live prompt; undefined where that prompt leaves no room for it. */
  async #extended({ system, tools, messages }: LivePrompt): Promise<Summary | undefined> {
    const { previous } = this.#request;
    const { user } = this.#prompt(undefined, previous, this.#request);
    const outcome = await this.#persist({
      ...this.#settings(),
      ...(system === undefined ? {} : { system }),
      ...(tools === undefined ? {} : { tools: withoutExecution(tools) }),
      messages: [...messages, { role: 'user', content: user }],
    });
    return outcome.kind === 'overflow' ? undefined : this.#decoded(outcome);
  }

  /** By calls of their own: one, or one for each part of a history that is longer than the window. */
  async #folded(items: readonly Item[]): Promise<Summary> {
    const { previous } = this.#request;
    const parts = chunks(items, this.#inputTokens(previous), this.#counter);
    let soFar: Summary | null = previous;
    let summary: Summary | undefined;
    for (const [i, part] of parts.entries()) {
      const made = await this.#part(part, soFar, i === parts.length - 1);
      summary = summary === undefined ? made : mergedAnswers(summary, made);
      soFar = previous === null ? summary : mergedAnswers(previous, summary);
    }
    return summary ?? proseSummary('', this.#request);
  }

  /** One part. Where even that overflows, the oldest of it are left out, and more of them each time (B20). */
  async #part(part: readonly Item[], previous: Summary | null, isLast: boolean): Promise<Summary> {
    const request = isLast ? this.#request : { ...this.#request, overlap: [] };
    for (let items = part; items.length > 0;) {
      const transcript = items.map(({ text }) => text).join('\n\n');
      const outcome = await this.#ask(this.#prompt(transcript, previous, request));
      if (outcome.kind !== 'overflow') return this.#decoded(outcome);
      const leftOut = Math.ceil(items.length * LEFT_OUT_SHARE);
      this.#request.report?.({ kind: 'left-out', messages: leftOut });
      items = items.slice(leftOut);
      if (items.length === 0) throw new Error(outcome.reason);
    }
    throw new Error('there is nothing to summarise');
  }

  async #prefix(nodes: readonly Node[], maxTokens: number): Promise<string> {
    const transcript = this.#items(nodes)
      .map(({ text }) => text)
      .join('\n\n');
    const { system, user } = splitTurnPrompt(transcript, maxTokens);
    const outcome = await this.#persist({
      ...this.#settings(),
      system,
      messages: [{ role: 'user', content: user }],
      maxOutputTokens: maxTokens,
    });
    return answerOf(outcome).trim();
  }

  #items(nodes: readonly Node[]): readonly Item[] {
    const { redact = redactSecrets } = this.#options;
    return nodes.map((node) => ({ text: formatMessage(node, redact) }));
  }

  #prompt(
    transcript: string | undefined,
    previous: Summary | null,
    request: SummaryRequest,
  ): PromptTexts {
    const { style, answer } = this.#manner;
    return summaryPrompt({ style, answer, request, transcript, previous });
  }

  #ask({ system, user }: PromptTexts): Promise<CallOutcome> {
    return this.#persist({
      ...this.#settings(),
      system,
      messages: [{ role: 'user', content: user }],
      ...(this.#manner.answer === 'structured' ? { schema: ANSWER_SCHEMA } : {}),
    });
  }

  #settings(): Pick<ModelCall, 'model' | 'maxOutputTokens' | 'temperature' | 'signal'> {
    const { model, temperature = 0.3 } = this.#options;
    return { model, temperature, maxOutputTokens: this.#outputTokens(), signal: this.#signal };
  }

  #outputTokens(): number {
    const { maxTokens } = this.#request;
    const needed = this.#manner.answer === 'structured' ? maxTokens * STRUCTURED_FACTOR : maxTokens;
    return Math.min(needed, this.#options.maxOutputTokens ?? needed);
  }

  /** What the messages of one call may take. */
  #inputTokens(previous: Summary | null): number {
    const { model, windowTokens } = this.#options;
    const id = typeof model === 'string' ? model : model.modelId;
    const window = (windowTokens ?? modelFacts(id).windowTokens) * EFFECTIVE_WINDOW;
    const { system, user } = this.#prompt('', previous, this.#request);
    const beside = this.#counter.text(system + user) + this.#outputTokens();
    return Math.max(1, Math.floor(window - beside));
  }

  /** Asks until there is an answer, as long as asking again may help. */
  async #persist(call: ModelCall): Promise<CallOutcome> {
    const { retries = DEFAULT_RETRIES, sleep = wait } = this.#options;
    for (let failures = 0; ; failures++) {
      this.#attempts += 1;
      const outcome = await callModel(call);
      if (outcome.kind === 'answer' || outcome.kind === 'no-answer') this.#pay(outcome.usage);
      if (outcome.kind !== 'failure' || failures === retries) return outcome;
      const waitMs = Math.min(
        outcome.retryAfterMs ?? FIRST_WAIT_MS * 2 ** failures,
        LONGEST_WAIT_MS,
      );
      this.#request.report?.({ kind: 'retried', reason: outcome.reason, waitMs });
      await sleep(waitMs, this.#signal);
    }
  }

  #decoded(outcome: CallOutcome): Summary {
    const text = answerOf(outcome);
    if (this.#manner.answer === 'prose') return proseSummary(text, this.#request);
    const decoded = decodeAnswer(text, this.#request);
    if (decoded.kind === 'problem') throw new Error(`off its schema: ${decoded.problem}`);
    return decoded.summary;
  }

  #pay(usage: Usage): void {
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      cacheReadTokens: this.#usage.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: this.#usage.cacheWriteTokens + usage.cacheWriteTokens,
    };
  }

  /** A failure is paid for as well. */
  #tellCost(): void {
    if (this.#attempts === 0) return;
    this.#request.report?.({
      kind: 'called',
      model: this.#manner.name,
      usage: this.#usage,
      attempts: this.#attempts,
      durationMs: Math.round(performance.now() - this.#started),
    });
  }
}

function answerOf(outcome: CallOutcome): string {
  if (outcome.kind !== 'answer') throw new Error(outcome.reason);
  return outcome.text;
}

/** The same tools to the provider, and none that could run. */
function withoutExecution(tools: ToolSet): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, { ...tool, execute: undefined }]),
  ) as ToolSet;
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
