import type { Summary } from '@bobbin/core';
import { oneLine, sentencesOf } from '@bobbin/core/internal';

const LONGEST = 240;

/** At most two sentences for a list of sessions: made of the summary itself, without a model. */
export function displayText(summary: Summary): string {
  const { currentTask, prose, task } = summary;
  return twoSentences(currentTask ?? prose ?? task ?? '');
}

/** The first two sentences of a text, on one line. */
export function twoSentences(text: string): string {
  return oneLine(sentencesOf(text).slice(0, 2).join(' '), LONGEST);
}
