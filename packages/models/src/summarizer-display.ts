import { displayPrompt, displayText, twoSentences, type Summary } from '@bobbin/core';
import type { LanguageModel } from 'ai';
import { callModel } from './summarizer-call.ts';

const MOST_TOKENS = 120;
const TIMEOUT_MS = 20_000;

/** What a list of sessions shows of one (B22): two sentences by a model, or of the summary itself where it fails. */
export async function displaySummary(
  summary: Summary,
  model: LanguageModel,
  signal: AbortSignal = AbortSignal.timeout(TIMEOUT_MS),
): Promise<string> {
  const { system, user } = displayPrompt(summary);
  const outcome = await callModel({
    model,
    system,
    messages: [{ role: 'user', content: user }],
    maxOutputTokens: MOST_TOKENS,
    temperature: 0.3,
    signal,
  });
  return outcome.kind === 'answer' ? twoSentences(outcome.text) : displayText(summary);
}
