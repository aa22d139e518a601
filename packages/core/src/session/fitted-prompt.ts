import type { CompactionEvent } from '../events.ts';
import { indexIn, remindedPrompt } from '../recall/reminded-prompt.ts';
import type { PromptBuilder } from '../render/builder.ts';
import type { Prompt } from '../render/prompt.ts';
import { messageLimit } from '../tokens/budget.ts';
import type { Fitted } from './fitted.ts';
import { messagesIn, remindersIn } from './state/reminding.ts';
import { withSentMessages } from './state/figures.ts';
import type { SessionState } from './state/state.ts';

/** A prompt that is not encoded yet. */
export type FittedPrompt = Omit<Fitted<unknown>, 'messages'>;

export function fittedPrompt(
  state: SessionState,
  built: PromptBuilder,
  events: readonly CompactionEvent[],
  compacted: boolean,
): FittedPrompt {
  const { config, plan, version, thread } = state;
  const { rules, counter } = config;
  const shown = built.finish(config);
  const prompt = state.resent.size === 0 ? shown : inNewestForms(shown, state);
  const reminders = remindersIn(state);
  const limitTokens = messageLimit(config.budget);
  const { continueWith } = config.policy;
  return {
    prompt:
      reminders.length === 0
        ? prompt
        : remindedPrompt(prompt, reminders, indexIn(thread, plan), rules, counter),
    plan,
    version,
    compacted,
    fits: built.tokens <= limitTokens,
    limitTokens,
    events,
    ...(compacted && continueWith !== undefined ? { continueWith } : {}),
  };
}

/** The prompt in the forms that the host sent last. */
function inNewestForms(prompt: Prompt, { resent }: SessionState): Prompt {
  const messages = prompt.messages.map((shown) => {
    const message = shown.source.kind === 'kept' ? resent.get(shown.source.id) : undefined;
    return message === undefined ? shown : { ...shown, message };
  });
  return { ...prompt, messages };
}

/** The state once a prompt was handed to the host. */
export function withSent(
  state: SessionState,
  built: PromptBuilder,
  { prompt }: FittedPrompt,
): SessionState {
  const { plan, thread, config, figures } = state;
  const messages = messagesIn(state, built);
  const { length } = messages;
  return {
    ...state,
    sent: { kind: 'prompt', plan, reminders: remindersIn(state), messages, length },
    figures: {
      ...withSentMessages(figures, thread.length),
      sentAt: config.clock.now(),
      unreportedTokens: prompt.tokens,
    },
  };
}
