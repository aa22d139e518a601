import type { Counter } from '@bobbin/core';
import { chunks, type JsonObject } from '@bobbin/core/internal';
import type { PromptTexts } from './prompts.ts';
import { answerOf } from './summarizer-asking.ts';
import type { CallOutcome } from './model-call.ts';

/** A message as the model reads it. */
export interface Item {
  readonly text: string;
}

/** What a model is asked to make of messages, part by part. */
export interface Work<T> {
  readonly maxOutputTokens: number;
  /** If given, the provider holds the model to it. */
  readonly schema?: JsonObject;
  /** What the model goes on from, after the parts that gave `made`: at most so many tokens, null for nothing. */
  soFar(made: T | undefined, maxTokens: number): string | null;
  prompt(transcript: string, soFar: string | null, isLast: boolean): PromptTexts;
  /** Combines an answer with what the parts before it gave; throws if the answer is of no use. */
  read(answer: string, made: T | undefined): T;
}

export interface FoldOptions {
  /** What a call may fill, its answer included. */
  readonly windowTokens: number;
  readonly counter: Counter;
  readonly ask: (texts: PromptTexts, work: Work<unknown>) => Promise<CallOutcome>;
  /** Called with the number of messages that were left out. */
  readonly onLeftOut: (messages: number) => void;
}

/** What the model goes on from may take this share of the window. */
const SO_FAR_SHARE = 0.25;
/** With less of the window than this for messages, a history takes more calls than it is worth. */
const LEAST_SHARE = 0.1;
/** What is left out at once, of the oldest, when a call overflows all the same. */
const LEFT_OUT_SHARE = 0.25;

/** Reads messages in as few calls as the window allows: one, or one for each part, each going on from those before. */
export async function fold<T>(
  items: readonly Item[],
  work: Work<T>,
  options: FoldOptions,
): Promise<T> {
  const { windowTokens, counter } = options;
  const bare = windowTokens - work.maxOutputTokens - tokensOf(work.prompt('', null, true), counter);
  const least = windowTokens * LEAST_SHARE;
  if (bare < least)
    throw new Error(
      `a window of ${Math.floor(windowTokens)} tokens has no space for messages beside the prompt and an answer of ${work.maxOutputTokens}`,
    );
  const soFarTokens = Math.floor(Math.min(bare - least, windowTokens * SO_FAR_SHARE));
  let made: T | undefined;
  for (let rest = items; rest.length > 0;) {
    const soFar = work.soFar(made, soFarTokens);
    const space =
      windowTokens - work.maxOutputTokens - tokensOf(work.prompt('', soFar, true), counter);
    const run = firstRun(rest, Math.max(Math.floor(space), 1), counter);
    rest = rest.slice(run.length);
    const prompt = (transcript: string): PromptTexts =>
      work.prompt(transcript, soFar, rest.length === 0);
    made = work.read(await askWithin(run, prompt, work, options), made);
  }
  if (made === undefined) throw new Error('there is nothing to summarise');
  return made;
}

function tokensOf({ system, user }: PromptTexts, counter: Counter): number {
  return counter.text(system + user);
}

/** The messages that one call can hold; one that is larger alone is cut. */
function firstRun(items: readonly Item[], space: number, counter: Counter): readonly Item[] {
  const [run = []] = chunks(items, space, counter);
  const [first] = run;
  return run.length === 1 && first !== undefined
    ? [{ text: cutToTokens(first.text, space, counter) }]
    : run;
}

const MARK_TOKENS = 16;
const LONE_SURROGATE = /[\uD800-\uDBFF]$/;

/** The beginning of a text within so many tokens, with a mark where it was cut. */
export function cutToTokens(text: string, maxTokens: number, counter: Counter): string {
  let head = text;
  for (
    let tokens = counter.text(head);
    tokens > maxTokens;
    tokens = counter.text(head) + MARK_TOKENS
  )
    head = head
      .slice(0, Math.floor((head.length * maxTokens * 0.9) / tokens))
      .replace(LONE_SURROGATE, '');
  return head === text ? text : `${head}… [${text.length - head.length} more characters]`;
}

/** Asks about some messages. If even that overflows, the oldest are left out, and more of them each time. */
async function askWithin<T>(
  run: readonly Item[],
  prompt: (transcript: string) => PromptTexts,
  work: Work<T>,
  { ask, onLeftOut }: FoldOptions,
): Promise<string> {
  for (let items = run; ;) {
    const outcome = await ask(prompt(items.map(({ text }) => text).join('\n\n')), work);
    const leftOut = Math.ceil(items.length * LEFT_OUT_SHARE);
    if (outcome.kind !== 'overflow' || leftOut === items.length) return answerOf(outcome);
    onLeftOut(leftOut);
    items = items.slice(leftOut);
  }
}
