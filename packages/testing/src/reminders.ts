import type { Prompt, ProviderRules } from '@bobbin/core';
import type { PromptMessage } from '@bobbin/core/internal';

/**
 * A prompt as its plan makes it: without what was brought back for this one turn, and without the words between that
 * keep the roles in turn.
 */
export function withoutReminders(prompt: Prompt, rules: ProviderRules): Prompt {
  const isInserted = (position: number): boolean =>
    isReminder(prompt.messages[position]) ||
    (rules.alternate &&
      prompt.messages[position]?.source.kind === 'bridge' &&
      isReminder(prompt.messages[position - 1]));
  const kept = [...prompt.messages.keys()].filter((position) => !isInserted(position));
  if (kept.length === prompt.messages.length) return prompt;
  const place = new Map(kept.map((position, i) => [position, i]));
  return {
    ...prompt,
    messages: kept.map((position) => prompt.messages[position] as PromptMessage),
    cachePoints: prompt.cachePoints.flatMap((point) => place.get(point) ?? []),
  };
}

/** True for a message that this one prompt shows and the thread does not hold. */
function isReminder(shown: PromptMessage | undefined): boolean {
  return shown?.source.kind === 'rehydrated' || shown?.source.kind === 'recalled';
}
