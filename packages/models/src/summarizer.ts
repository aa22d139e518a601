import {
  formatMessage,
  proseSummary,
  redactSecrets,
  type Counter,
  type Summarizer,
  type Summary,
  type SummaryRequest,
} from '@bobbin/core';
import {
  errorText,
  estimator,
  fitSummaryText,
  modelFacts,
  redactSummary,
  type Node,
  type Redact,
} from '@bobbin/core/internal';
import { ANSWER_SCHEMA, decodeAnswer } from './answer.ts';
import {
  promptVersion,
  splitTurnPrompt,
  summaryPrompt,
  type AnswerForm,
  type PromptStyle,
  type PromptTexts,
} from './prompts.ts';
import type { Patience } from './patience.ts';
import { answerOf, Asking } from './summarizer-asking.ts';
import {
  modelIdOf,
  nameOf,
  sourceOf,
  type AiSdkModel,
  type AnthropicClient,
  type LangchainModel,
  type ModelSource,
  type OpenAIClient,
} from './model-source.ts';
import type { ModelCall } from './model-call.ts';
import { cutToTokens, fold, type Work } from './summarizer-fold.ts';
import { mergedAnswers } from './summarizer-merge.ts';

/** The prompt that a host sends its agent, as it sent it last: a call that begins with it is read from the cache. */
export interface LivePrompt {
  readonly system?: string | object;
  readonly tools?: Readonly<Record<string, object>>;
  /** Messages of the AI SDK. */
  readonly messages: readonly object[];
  /** What all of it takes, if that is known: it is not extended if the window has no space for more. */
  readonly tokens?: number;
}

export interface ModelSummarizerOptions extends Patience {
  /** A model of the AI SDK, a chat model of LangChain's, or the id of a model that `client` has. */
  readonly model: AiSdkModel | LangchainModel;
  /** A client of OpenAI's or Anthropic's own. */
  readonly client?: OpenAIClient | AnthropicClient;
  readonly style?: PromptStyle;
  /** Structured output, or free text for models that cannot give any. */
  readonly answer?: AnswerForm;
  /**
   * Extends the live prompt instead of sending the messages again: for a summary by the agent's own model, which is one
   * of the AI SDK. Undefined if there is none at the moment.
   */
  readonly live?: () => LivePrompt | undefined | Promise<LivePrompt | undefined>;
  /** The model's window; looked up by its id if absent. */
  readonly windowTokens?: number;
  /** Caps the output below what the request allows. */
  readonly maxOutputTokens?: number;
  /** 0.3 for models of the AI SDK, the model's own for others: some take no other. */
  readonly temperature?: number;
  readonly counter?: Counter;
}

/** The share of the window that a call may fill: counts are estimates. */
const EFFECTIVE_WINDOW = 0.95;
/** The share of the window that an answer may take; the rest is for what it is about. */
const OUTPUT_SHARE = 0.25;

/**
 * A summarizer over a model: of the AI SDK, of LangChain, or of OpenAI's or Anthropic's own client. It rejects, with
 * the reason, if the model gives no summary worth keeping: no answer, one that is blank, cut off, refused or off its
 * schema. What it returns is the model's word; wrap it in core's `trustedSummarizer` to have it verified.
 */
export function modelSummarizer(options: ModelSummarizerOptions): Summarizer {
  const source = sourceOf(options);
  const { style = 'hand-over', answer = 'structured' } = options;
  const name = nameOf(source);
  return {
    id: `${name}+${promptVersion(style, answer)}`,
    summarize: (request: SummaryRequest) =>
      new Summarizing(options, { source, name, style, answer }, request).summary(),
  };
}

interface Manner {
  readonly source: ModelSource;
  readonly name: string;
  readonly style: PromptStyle;
  readonly answer: AnswerForm;
}

/** The making of one summary. */
class Summarizing {
  readonly #options: ModelSummarizerOptions;
  readonly #manner: Manner;
  readonly #request: SummaryRequest;
  readonly #redact: Redact;
  readonly #counter: Counter;
  readonly #windowTokens: number;
  readonly #asking: Asking;

  constructor(options: ModelSummarizerOptions, manner: Manner, request: SummaryRequest) {
    const { windowTokens } = options;
    const id = modelIdOf(manner.source);
    this.#options = options;
    this.#manner = manner;
    this.#request = request;
    this.#redact = request.redact ?? redactSecrets;
    this.#counter = options.counter ?? estimator();
    this.#windowTokens = (windowTokens ?? modelFacts(id).windowTokens) * EFFECTIVE_WINDOW;
    this.#asking = new Asking(options, request.signal, request.report);
  }

  async summary(): Promise<Summary> {
    try {
      const { nodes, splitTurn } = this.#request;
      const range = nodes.filter(({ turn }) => turn !== splitTurn?.turn);
      const prefix = nodes.filter(({ turn }) => turn === splitTurn?.turn);
      const summary = range.length > 0 ? await this.#range(range) : undefined;
      const whole = summary ?? proseSummary('', this.#request);
      if (splitTurn === undefined || prefix.length === 0) return whole;
      const text = await this.#fold(prefix, this.#turnWork(splitTurn)).catch((error: unknown) => {
        if (summary === undefined) throw error;
        return this.#withoutTurn(error);
      });
      // An empty text says that the account does not cover the turn: the extract describes it.
      return { ...whole, splitTurn: { turn: splitTurn.turn, text: text ?? '' } };
    } finally {
      this.#asking.end(this.#manner.name);
    }
  }

  /** What is paid for is kept: the extract covers the beginning of the split turn. */
  #withoutTurn(error: unknown): undefined {
    this.#request.signal?.throwIfAborted();
    const reason = errorText(error);
    this.#request.report?.({ kind: 'split-turn-failed', reason });
  }

  async #range(nodes: readonly Node[]): Promise<Summary> {
    const live = this.#manner.source.kind === 'ai-sdk' ? await this.#options.live?.() : undefined;
    if (live !== undefined) {
      const summary = await this.#extended(live);
      if (summary !== undefined) return summary;
    }
    return this.#fold([...nodes, ...this.#request.overlap], this.#rangeWork());
  }

  /** By a call that goes on from the live prompt; undefined if that prompt leaves no space for it. */
  async #extended(live: LivePrompt): Promise<Summary | undefined> {
    const { system, tools, messages, tokens = 0 } = live;
    const { maxOutputTokens } = this.#rangeWork();
    const soFar = this.#summarySoFar(undefined, maxOutputTokens);
    const { user } = this.#rangePrompt(undefined, soFar, true);
    if (tokens + this.#counter.text(user) + maxOutputTokens > this.#windowTokens) return undefined;
    const outcome = await this.#asking.ask({
      ...this.#settings(),
      maxOutputTokens,
      ...(system === undefined ? {} : { system: system as NonNullable<ModelCall['system']> }),
      ...(tools === undefined ? {} : { tools: withoutExecution(tools) }),
      messages: [...(messages as ModelCall['messages']), { role: 'user', content: user }],
    });
    return outcome.kind === 'overflow' ? undefined : this.#decoded(answerOf(outcome));
  }

  #fold<T>(nodes: readonly Node[], work: Work<T>): Promise<T> {
    const items = nodes
      .map((node) => ({ text: formatMessage(node, this.#redact) }))
      .filter(({ text }) => text !== '');
    return fold(items, work, {
      windowTokens: this.#windowTokens,
      counter: this.#counter,
      ask: ({ system, user }, { maxOutputTokens, schema }) =>
        this.#asking.ask({
          ...this.#settings(),
          system,
          messages: [{ role: 'user', content: user }],
          maxOutputTokens,
          ...(schema === undefined ? {} : { schema }),
        }),
      onLeftOut: (messages) => this.#request.report?.({ kind: 'left-out', messages }),
    });
  }

  #rangeWork(): Work<Summary> {
    return {
      maxOutputTokens: this.#outputTokens(this.#request.maxTokens),
      ...(this.#manner.answer === 'structured' ? { schema: ANSWER_SCHEMA } : {}),
      soFar: (made, maxTokens) => this.#summarySoFar(made, maxTokens),
      prompt: (transcript, soFar, isLast) => this.#rangePrompt(transcript, soFar, isLast),
      read: (answer, made) => {
        const read = this.#decoded(answer);
        return made === undefined ? read : mergedAnswers(made, read);
      },
    };
  }

  #summarySoFar(made: Summary | undefined, maxTokens: number): string | null {
    const { previous } = this.#request;
    const known =
      previous === null || made === undefined ? (made ?? previous) : mergedAnswers(previous, made);
    return known === null
      ? null
      : (fitSummaryText(redactSummary(known, this.#redact), maxTokens, this.#counter) ?? null);
  }

  #rangePrompt(transcript: string | undefined, soFar: string | null, isLast: boolean): PromptTexts {
    const { style, answer } = this.#manner;
    const { overlap, maxTokens } = this.#request;
    const request = {
      ...this.#request,
      overlap: isLast ? overlap : [],
      // The model learns what its answer can hold, not what the request would have allowed.
      maxTokens: this.#outputTokens(maxTokens),
    };
    return summaryPrompt({ style, answer, request, transcript, soFar, redact: this.#redact });
  }

  /** A turn may be split more than once: the model goes on from what the summary before says of it. */
  #turnWork({
    turn,
    maxTokens,
  }: {
    readonly turn: number;
    readonly maxTokens: number;
  }): Work<string> {
    const maxOutputTokens = this.#outputTokens(maxTokens);
    const { previous, instructions: given } = this.#request;
    const instructions = given === undefined ? undefined : this.#redact(given);
    const before = previous?.splitTurn?.turn === turn ? previous.splitTurn.text : '';
    return {
      maxOutputTokens,
      soFar: (made = this.#redact(before), most) =>
        made === '' ? null : cutToTokens(made, most, this.#counter),
      prompt: (transcript, soFar) =>
        splitTurnPrompt(transcript, maxOutputTokens, soFar, instructions),
      read: (answer) => answer.trim(),
    };
  }

  #outputTokens(needed: number): number {
    const most = Math.floor(this.#windowTokens * OUTPUT_SHARE);
    return Math.min(needed, most, this.#options.maxOutputTokens ?? needed);
  }

  #settings(): Pick<ModelCall, 'source' | 'temperature'> {
    const { temperature } = this.#options;
    const { source } = this.#manner;
    return temperature === undefined ? { source } : { source, temperature };
  }

  #decoded(answer: string): Summary {
    if (this.#manner.answer === 'prose') return proseSummary(answer, this.#request);
    const decoded = decodeAnswer(answer, this.#request);
    if (decoded.kind === 'problem') throw new Error(`off its schema: ${decoded.problem}`);
    return decoded.summary;
  }
}

/** The same tools to the provider, and none that could run. */
function withoutExecution(
  tools: NonNullable<LivePrompt['tools']>,
): NonNullable<ModelCall['tools']> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, { ...tool, execute: undefined }]),
  ) as NonNullable<ModelCall['tools']>;
}
