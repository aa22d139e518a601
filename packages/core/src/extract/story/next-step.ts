import { reversed } from '../../check/list.ts';
import { startsTurn, textOf } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';
import { announces } from './agent-words.ts';
import { sentences } from './passages.ts';

/** What an agent announced longer ago has been done or given up. */
const NEWEST_MESSAGES = 12;
const LONGEST = 240;

/** What the agent says last that it does next, or asks, in its own words; none if the user has spoken since. */
export function nextStep(nodes: readonly Node[]): readonly string[] {
  for (const { message } of reversed(nodes.slice(-NEWEST_MESSAGES))) {
    if (startsTurn(message)) return [];
    if (message.role !== 'assistant') continue;
    const said = sentences(textOf(message).replace(/\s+/g, ' '));
    const step = reversed(said).find((sentence) => sentence.endsWith('?') || announces(sentence));
    if (step !== undefined) return [oneLine(step.replace(/:$/, '.'), LONGEST)];
    if (said.length > 0) return [];
  }
  return [];
}
