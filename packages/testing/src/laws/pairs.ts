import { callsOf, hasResults, resultsOf, type PromptMessage } from '@bobbin/core/internal';
import { promptLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/**
 * Every call is answered in its run of assistant messages or after it before anyone else speaks, every result has its
 * call there, and no call is answered twice.
 */
export function* pairs({ whole }: Scene): Iterable<Breach> {
  const law = 'pairs together';
  let open = new Set<string>();
  let answering = false;
  for (const [position, shown] of whole.messages.entries()) {
    const { message } = shown;
    const answers = hasResults(message) && message.role !== 'assistant';
    const ends = message.role === 'assistant' ? answering : message.role !== 'tool' && !answers;
    if (ends) {
      if (open.size > 0)
        yield { law, detail: `no result of ${names(open)} before ${place(position, shown)}` };
      open = new Set();
    }
    answering = answers || (answering && message.role === 'tool');
    for (const { callId } of callsOf(message)) open.add(callId);
    for (const { callId } of resultsOf(message)) {
      if (!open.delete(callId))
        yield { law, detail: `a result of ${callId} without its call: ${place(position, shown)}` };
    }
  }
  if (open.size > 0) yield { law, detail: `no result of ${names(open)} before the prompt ends` };
}

function names(callIds: ReadonlySet<string>): string {
  return [...callIds].join(', ');
}

function place(position: number, shown: PromptMessage): string {
  return `position ${position}, ${promptLine(shown)}`;
}
