import { headOf, jsonText } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import type { AgentEvent, EndReason } from '../events.ts';
import { submit } from '../loop/submit.ts';
import { Outcome } from './outcome.ts';

export interface Output {
  /** For what was asked for. */
  write(text: string): void;
  /** For what is said about it. */
  complain(text: string): void;
}

/** Answers once and prints the answer. */
export async function printMode(agent: Agent, prompt: string, output: Output): Promise<EndReason> {
  return printed(agent, prompt, output, () => undefined);
}

/** As `printMode`; what happened on the way goes to the error output. */
export async function verboseMode(
  agent: Agent,
  prompt: string,
  output: Output,
): Promise<EndReason> {
  return printed(agent, prompt, output, (event) => writeProgress(event, output));
}

async function printed(
  agent: Agent,
  prompt: string,
  output: Output,
  tellOnTheWay: (event: AgentEvent) => void,
): Promise<EndReason> {
  const outcome = new Outcome();
  let answer = '';
  const stop = agent.on((event) => {
    outcome.take(event);
    if (event.type === 'assistant') {
      // What is said before a call is on the way to the answer.
      if (event.calls.length === 0) answer = event.text;
      else if (event.text !== '') tellOnTheWay(event);
    } else if (event.type === 'command') output.write(`${event.text}\n`);
    else if (event.type === 'error') output.complain(`error: ${event.error}\n`);
    else tellOnTheWay(event);
  });
  agent.tellStart();
  await submit(agent, prompt);
  await agent.rest();
  stop();
  if (answer !== '') output.write(`${answer}\n`);
  return outcome.reason;
}

function writeProgress(event: AgentEvent, output: Output): void {
  switch (event.type) {
    case 'assistant':
      return output.complain(`${event.text}\n`);
    case 'tool-start':
      return output.complain(`[${event.tool}] ${cut(jsonText(event.args))}\n`);
    case 'tool-end':
      if (event.outcome === 'failure')
        output.complain(`[${event.tool}] failed: ${cut(event.text.split('\n', 1)[0] ?? '')}\n`);
      return;
    case 'compaction-end':
      return output.complain(`[compaction] ${event.notice}\n`);
    case 'compaction-stopped':
      return output.complain(`[compaction] stopped: ${event.reason}\n`);
    case 'retry':
      return output.complain(`[retry ${event.attempt}] ${event.reason}\n`);
    case 'notice':
      return output.complain(`${event.text}\n`);
    case 'command':
    case 'compaction-start':
    case 'context':
    case 'end':
    case 'error':
    case 'permission':
    case 'phase':
    case 'queued':
    case 'reasoning':
    case 'returned':
    case 'session':
    case 'text':
    case 'tool-output':
    case 'user':
  }
}

const LONGEST = 100;

function cut(text: string): string {
  return text.length > LONGEST ? `${headOf(text, LONGEST)}…` : text;
}
