import {
  createBobbin,
  presets,
  proseSummary,
  type ArtifactStore,
  type Budget,
  type Counter,
  type Fitted,
  type Message,
  type Policy,
  type Summarizer,
} from '@bobbin/core';
import {
  messageLimit,
  messagesOnly,
  budget,
  isKnownModel,
  modelFacts,
  modelMeant,
  accountOf,
  PRESETS,
  singlePrompt,
  singlePromptBeside,
  THRIFT,
} from '@bobbin/core/internal';
import type { Conversation } from '../input/conversation.ts';
import { COUNTERS, usualCounter } from './counters.ts';
import { writeError, UsageError } from '../failure.ts';
import { counted, grouped } from '../output/figures.ts';
import { Progress } from '../output/progress.ts';
import { FORMATS } from '../input/formats.ts';
import { oneOf, wholeNumber, type OptionValues } from '../command.ts';
import type { COMPACT_OPTIONS } from './compact-options.ts';

/** What was asked for, looked up. What a model decides waits for the conversation, which may name one. */
export interface CompactRequest {
  /** The name of a format; `auto` detects it for each text. */
  readonly format: string;
  readonly policy: Policy;
  readonly model?: string;
  readonly counter?: keyof typeof COUNTERS;
  readonly windowTokens?: number;
  readonly budgetTokens?: number;
  readonly instructions?: string;
  /** Where artifacts are kept; nowhere if absent. */
  readonly artifacts?: ArtifactStore;
  /** What a model wrote about the conversation: verified and used as a summarizer's answer. */
  readonly summary?: string;
}

/** How a conversation is compacted. */
export interface CompactSettings extends Pick<
  CompactRequest,
  'policy' | 'model' | 'instructions' | 'artifacts' | 'summary'
> {
  readonly counter: Counter;
  readonly budget: Budget;
}

/** A conversation and what became of it. */
export interface Compacted {
  readonly messages: readonly Message[];
  readonly fitted: Fitted<unknown>;
  readonly tokensBefore: number;
  readonly messagesBefore: number;
  readonly millis: number;
}

type RequestValues = OptionValues<typeof COMPACT_OPTIONS> & { readonly thrift?: string };

/** @throws UsageError if an option is not what it should be. */
export function requestFrom(values: RequestValues): CompactRequest {
  const preset = oneOf('preset', values.preset, PRESETS) ?? 'ladder';
  const thrift = oneOf('thrift', values.thrift, THRIFT);
  if (thrift !== undefined && preset !== 'ladder')
    throw new UsageError(`--thrift is for the preset ladder: ${preset} does not shorten results`);
  if (thrift !== undefined && values.budget !== undefined)
    throw new UsageError('--thrift goes with --window: --budget makes a summary of older turns');
  const counter = oneOf('counter', values.counter, COUNTERS);
  const budgetTokens = wholeNumber('budget', values.budget);
  const windowTokens = wholeNumber('window', values.window);
  const format = oneOf('format', values.format, FORMATS) ?? 'auto';
  const assumed = assumptionsFor(values);
  if (assumed !== undefined) writeError(assumed);
  return {
    format,
    policy: thrift === undefined ? PRESETS[preset] : presets.ladder({ thrift }),
    ...(values.model === undefined ? {} : { model: values.model }),
    ...(counter === undefined ? {} : { counter }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(budgetTokens === undefined ? {} : { budgetTokens }),
    ...(values.instructions === undefined ? {} : { instructions: values.instructions }),
  };
}

/**
 * How a conversation is compacted: for the model that was asked for, or for the one that it names, if that is known.
 */
export async function settingsFor(
  request: CompactRequest,
  conversation: Conversation,
): Promise<CompactSettings> {
  const { policy, counter, instructions, artifacts, summary, budgetTokens } = request;
  const named = conversation.model;
  const model = request.model ?? (named !== undefined && isKnownModel(named) ? named : undefined);
  // No request follows that a rewrite could make cheaper.
  const { economics: _, ...unpriced } = policy;
  const settings: CompactSettings = {
    policy: unpriced,
    ...(model === undefined ? {} : { model }),
    counter: await (counter === undefined ? usualCounter(model) : COUNTERS[counter]()),
    budget: transcriptBudget(request.windowTokens ?? modelFacts(model).windowTokens),
    ...(instructions === undefined ? {} : { instructions }),
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(summary === undefined ? {} : { summary }),
  };
  return budgetTokens === undefined ? settings : bounded(settings, budgetTokens);
}

/** What is taken for granted of a model that is not known; undefined if it is known, or all was said. */
function assumptionsFor({
  model,
  window,
  budget: bound,
  counter,
}: OptionValues<typeof COMPACT_OPTIONS>): string | undefined {
  if (model === undefined || isKnownModel(model)) return undefined;
  const tokens = grouped(modelFacts(model).windowTokens);
  const assumed = [
    ...(window === undefined && bound === undefined
      ? [`a window of ${tokens} tokens (--window)`]
      : []),
    ...(counter === undefined ? ['an estimate of its tokens (--counter)'] : []),
  ];
  if (assumed.length === 0) return undefined;
  return `nothing is known of the model ${JSON.stringify(model)}${modelMeant(model)}: assuming ${assumed.join(' and ')}`;
}

/** A window for a transcript: nothing is recalled into it, since that would be for one request alone. */
export function transcriptBudget(windowTokens: number): Budget {
  return budget({ windowTokens, rehydrationTokens: 0 });
}

/**
 * Bounds the messages alone, and aims at all of that: there is no later request to leave space for, nor a provider's
 * cache to spare.
 */
function bounded(settings: CompactSettings, tokens: number): CompactSettings {
  const { economics: _, firstSightShare: __, ...policy } = settings.policy;
  const whole =
    policy.name === singlePrompt.name ? single(settings, tokens) : { ...policy, targetShare: 1 };
  return { ...settings, policy: whole, budget: messagesOnly(tokens) };
}

function single({ summary, counter }: CompactSettings, tokens: number): Policy {
  return summary === undefined
    ? singlePrompt
    : singlePromptBeside(counter.text(accountOf(summary)), tokens);
}

/** A summarizer that answers with a text that was written before. */
function writtenSummary(text: string): Summarizer {
  return {
    id: 'written-summary',
    summarize: (request) => Promise.resolve(proseSummary(text, request)),
  };
}

/** How many messages are counted at once: progress is shown between. */
const BATCH = 500;

/** Compacts one conversation, which knows of no other. */
export async function compacted(
  settings: CompactSettings,
  conversation: Conversation,
  progress: Progress = new Progress(),
): Promise<Compacted> {
  const { policy, counter, instructions, artifacts, summary } = settings;
  const { codec, messages, wireMessages } = conversation;
  const started = performance.now();
  const bobbin = createBobbin({
    codec,
    preset: policy,
    counter,
    budget: settings.budget,
    // The command prints the warnings among the events itself.
    onEvent: () => undefined,
    ...(artifacts === undefined ? {} : { artifacts }),
    ...(summary === undefined ? {} : { summarizer: writtenSummary(summary) }),
  });
  const session = await bobbin.thread('conversation');
  for (let from = 0; from < messages.length; from += BATCH) {
    await session.appendDecoded(messages.slice(from, from + BATCH));
    progress.show(`reading message ${grouped(from)} of ${grouped(messages.length)}`);
  }
  if (messages.length > BATCH)
    await progress.announce(`compacting ${counted(messages.length, 'message')}`);
  const fitted = await session.prompt(instructions === undefined ? {} : { instructions });
  const millis = performance.now() - started;
  const tokensBefore = messages.reduce((sum, message) => sum + counter.message(message), 0);
  return { messages, fitted, tokensBefore, messagesBefore: wireMessages, millis };
}

/** The figures of a settings, as data for programs. */
export interface Figures {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly limitTokens: number;
  readonly messagesBefore: number;
  readonly messagesAfter: number;
  readonly compacted: boolean;
  readonly fits: boolean;
  readonly counter: string;
  /** The model that was asked for, or that the conversation names; absent if nothing is known of one. */
  readonly model?: string;
  readonly preset: string;
}

export function figuresOf(settings: CompactSettings, { fitted, ...result }: Compacted): Figures {
  return {
    tokensBefore: result.tokensBefore,
    tokensAfter: fitted.prompt.tokens,
    limitTokens: messageLimit(settings.budget),
    messagesBefore: result.messagesBefore,
    messagesAfter: fitted.messages.length,
    compacted: fitted.compacted,
    fits: fitted.fits,
    counter: settings.counter.name,
    ...(settings.model === undefined ? {} : { model: settings.model }),
    preset: settings.policy.name,
  };
}
