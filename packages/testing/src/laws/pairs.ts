import { callsOf, hasResults, resultsOf } from '@bobbin/core';
import { promptLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/**
 * Every call is answered behind its run of assistant messages before anything else is said, every result has its call
 * there, and no call is answered twice.
 */
export function* pairs({ prompt }: Scene): Iterable<Breach> {
  const law = 'pairs together';
  let open = new Set<string>();
  let answering = false;
  for (const [position, shown] of prompt.messages.entries()) {
    const { message } = shown;
    const where = `at ${position}, ${promptLine(shown)}`;
    if (hasResults(message)) {
      answering = true;
      for (const { callId } of resultsOf(message)) {
        if (!open.delete(callId))
          yield { law, detail: `a result of ${callId} without its call ${where}` };
      }
    } else if (message.role !== 'assistant' || answering) {
      if (open.size > 0)
        yield { law, detail: `no result of ${[...open].join(', ')} before the message ${where}` };
      open = new Set();
      answering = false;
    }
    for (const { callId } of callsOf(message)) open.add(callId);
  }
  if (open.size > 0)
    yield { law, detail: `no result of ${[...open].join(', ')} before the prompt ends` };
}
