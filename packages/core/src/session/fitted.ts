import { lazyField } from '../check/lazy-field.ts';
import type { CompactionEvent } from '../events.ts';
import type { Plan } from '../plan/plan.ts';
import { indexIn, remindedPrompt } from '../recall/reminded-prompt.ts';
import type { Prompt, PromptMessage } from '../render/prompt.ts';
import { messageLimit } from '../tokens/budget.ts';
import type { SessionState } from './state/state.ts';
import type { Outcome, Work } from './work.ts';

/** A prompt in the host's own format, with the plan and the events that led to it. */
export interface Fitted<Wire> {
  /**
   * The messages to send, in the host's own format. They are encoded when this property is first read. You may change
   * the list.
   */
  readonly messages: Wire[];
  /**
   * The same prompt in Bobbin's own format. `prompt.tokens` counts all messages, including reminders (compacted content
   * that Bobbin added).
   */
  readonly prompt: Prompt;
  readonly plan: Plan;
  /** The version of the plan. `session.promptAt(version)` renders the same prompt again. */
  readonly version: number;
  readonly compacted: boolean;
  /**
   * True if the messages, without reminders, have at most `limitTokens` tokens. False only if content that is never
   * compacted exceeds the limit, or if the budget leaves no tokens for messages. A warning in `events` then says by how
   * many tokens, and which parts of the budget reduce the window.
   */
  readonly fits: boolean;
  /**
   * How many tokens the messages may have: the window less all parts of the budget. Reminders have their own part of
   * the budget. So a prompt that fits has at most `limitTokens` + `budget.rehydrationTokens`, and always fits the
   * window.
   */
  readonly limitTokens: number;
  readonly events: readonly CompactionEvent[];
  /** A text that the host should send next, after a compaction. Only some policies set it. */
  readonly continueWith?: string;
}

/** A prompt that is not encoded yet. */
export type FittedPrompt = Omit<Fitted<unknown>, 'messages'>;

/** The prompt as it goes out. */
export function sendPrompt<Wire>(work: Work<Wire>, shown: Prompt, outcome: Outcome): Fitted<Wire> {
  const fitted = fittedPrompt(work, shown, outcome, work.state.config.policy.continueWith);
  work.state = withSent(work.state, fitted.prompt);
  return fitted;
}

/** The prompt as it is shown, with what led to it and what the host should send after a compaction. */
export function fittedPrompt<Wire>(
  { state, config: { codec } }: Work<Wire>,
  shown: Prompt,
  { events, changed = false }: Outcome,
  continueWith?: string,
): Fitted<Wire> {
  const { config, plan, version } = state;
  const newest = state.resent.size === 0 ? shown : inNewestForms(shown, state);
  const prompt = plan.records.length === 0 ? newest : reminded(newest, state);
  const limitTokens = messageLimit(config.budget);
  const fits = shown.tokens <= limitTokens;
  const fitted = { prompt, plan, version, compacted: changed, fits, limitTokens, events };
  return withMessages(
    changed && continueWith !== undefined ? { ...fitted, continueWith } : fitted,
    () => [...codec.encode(prompt.messages.map(({ message }) => message))],
  );
}

/** The prompt in the forms that the host sent last. */
function inNewestForms(prompt: Prompt, { resent }: SessionState): Prompt {
  const messages = prompt.messages.map((shown) => {
    const message = shown.source.kind === 'kept' ? resent.get(shown.source.id) : undefined;
    return message === undefined ? shown : { ...shown, message };
  });
  return { ...prompt, messages };
}

/** The prompt with what was brought back. */
function reminded(prompt: Prompt, { reminding, thread, plan, config }: SessionState): Prompt {
  const { rules, counter } = config;
  return reminding.placed.length === 0
    ? prompt
    : remindedPrompt(prompt, reminding.placed, indexIn(thread, plan), rules, counter);
}

/** The state once a prompt was handed to the host, or goes out as it is. */
function withSent(state: SessionState, prompt: Pick<Prompt, 'messages' | 'tokens'>): SessionState {
  const { plan, thread, config, figures, reminding } = state;
  return {
    ...state,
    sent: { kind: 'prompt', plan, reminders: reminding.placed, prompt },
    figures: {
      ...figures,
      sentMessages: thread.length,
      largestUnsentTokens: 0,
      sentAt: config.clock.now(),
      unreportedTokens: prompt.tokens,
    },
  };
}

/** The state once the whole path went out as it is, and what that cost. */
export function withWholeSent(state: SessionState): readonly [SessionState, tokens: number] {
  const { thread, config } = state;
  const messages = thread.path().map(({ id, message }): PromptMessage => {
    return { message, source: { kind: 'kept', id } };
  });
  const tokens = messages.reduce((sum, { message }) => sum + config.counter.message(message), 0);
  return [withSent(state, { messages, tokens }), tokens];
}

const lazyEncoded = lazyField('messages');

/** A result whose messages are encoded when they are first read: to check a prompt alone costs no pass over it. */
export function withMessages<Wire>(result: FittedPrompt, encode: () => Wire[]): Fitted<Wire> {
  const { prompt, plan, version, compacted, fits, limitTokens, events, continueWith } = result;
  return lazyEncoded(
    {
      prompt,
      plan,
      version,
      compacted,
      fits,
      limitTokens,
      events,
      ...(continueWith === undefined ? {} : { continueWith }),
    },
    encode,
  );
}
