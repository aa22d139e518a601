import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { headOf, isJsonObject, jsonText, parseJson } from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import type { EndReason } from '../events.ts';
import { submit } from '../loop/submit.ts';
import { answerOf } from './answer.ts';
import { Outcome } from './outcome.ts';

/**
 * An event a line. With a prompt it is answered and that is all; without one every line that comes in is a message, a
 * command, or an object such as {"type":"interrupt"}, until the input ends and all is done.
 */
export async function jsonMode(
  agent: Agent,
  prompt: string,
  input: Readable,
  write: (line: string) => void,
): Promise<EndReason> {
  const outcome = new Outcome();
  const stop = agent.on((event) => {
    outcome.take(event);
    write(`${jsonText(event)}\n`);
  });
  agent.tellStart();
  let submitted: Promise<unknown> = Promise.resolve();
  const take = (text: string): void => {
    submitted = submitted.then(() => submit(agent, text));
  };
  if (prompt !== '') take(prompt);
  else for await (const line of createInterface({ input })) takeLine(agent, line, take);
  agent.leaveAlone();
  await submitted;
  await agent.rest();
  stop();
  return outcome.reason;
}

/** What cannot wait is done at once: an interruption must reach what it interrupts. */
function takeLine(agent: Agent, line: string, take: (text: string) => void): void {
  const said = parseJson(line);
  if (!isJsonObject(said)) return line.trim() === '' ? undefined : take(line);
  const { type, text, id } = said;
  if (type === 'interrupt') return agent.interrupt();
  if (type === 'say' && typeof text === 'string') return take(text);
  const answer = answerOf(said['answer']);
  if (type === 'answer' && typeof id === 'string' && answer !== undefined) {
    if (!agent.answer(id, answer)) agent.emit({ type: 'error', error: `nothing asks for ${id}` });
    return undefined;
  }
  return agent.emit({ type: 'error', error: `not understood: ${headOf(line, 200)}` });
}
