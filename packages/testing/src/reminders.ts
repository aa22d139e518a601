import type { Prompt } from '@bobbin/core';
import type { PromptMessage } from '@bobbin/core/internal';

/**
 * A prompt as its plan makes it: without reminders, and without the words next to them that keep the roles in order.
 */
export function withoutReminders(prompt: Prompt): Prompt {
  const kept = [...prompt.messages.keys()].filter(
    (position) => !isReminder(prompt.messages[position]) && !isBeside(prompt.messages[position]),
  );
  if (kept.length === prompt.messages.length) return prompt;
  const place = new Map(kept.map((position, i) => [position, i]));
  return {
    ...prompt,
    messages: kept.map((position) => prompt.messages[position] as PromptMessage),
    cachePoints: prompt.cachePoints.flatMap((point) => place.get(point) ?? []),
  };
}

/** True for a message that prompts show and the thread does not contain. */
export function isReminder(shown: PromptMessage | undefined): boolean {
  return shown?.source.kind === 'rehydrated' || shown?.source.kind === 'recalled';
}

/** True for the words next to a reminder. */
export function isBeside(shown: PromptMessage | undefined): boolean {
  return shown?.source.kind === 'bridge' && shown.source.beside === 'reminder';
}
