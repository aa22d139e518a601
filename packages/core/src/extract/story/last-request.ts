import { hasCalls, startsTurn, textOf, type Message } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { LastRequest } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import type { Node } from '../../thread/thread.ts';
import { saidByAgent, saysNothing } from './agent-words.ts';
import { answeredText, whatIsAnswered } from './answers.ts';
import { sentences } from './passages.ts';
import { expandedCommands, saidByUser } from './user-words.ts';

const REQUEST_CHARS = 200;
const SENTENCE_CHARS = 100;

/** What is known before some messages are read. A part of a secret is not recognised: texts are cut without secrets. */
interface Known {
  readonly task: string | null;
  readonly before: LastRequest | undefined;
  readonly redact: Redact;
}

/** What a person said, where, and the agent's message before it. */
interface Asked {
  readonly said: string;
  readonly at: number;
  readonly after: Node | undefined;
}

/**
 * What a person asked for last, what it answers if it is short, and the message that reports on it. Undefined if nothing
 * was asked after the task.
 */
export function lastRequest(
  nodes: readonly Node[],
  { task, before: known, redact }: Known,
): LastRequest | undefined {
  const expanded = expandedCommands(nodes);
  let asked: Asked | undefined;
  let reportedAt = known?.reportedAt;
  let before: Node | undefined;
  for (const node of nodes) {
    const { message, index, turn } = node;
    const said = startsTurn(message) && !expanded.has(index) ? saidByUser(message).join('\n') : '';
    // An older message may stay in the prompt.
    const isLater = index > (known?.at ?? -1);
    if (isLater && said !== '' && turn > 1 && textOf(message) !== task) {
      asked = { said, at: index, after: before };
      reportedAt = undefined;
    } else if (isLater && message.role === 'assistant')
      reportedAt = isAgentReport(message) ? index : undefined;
    if (message.role === 'assistant') before = node;
    else if (said !== '') before = undefined;
  }
  const request = asked === undefined ? known : requestOf(asked, redact);
  if (request === undefined) return undefined;
  const { reportedAt: _, ...open } = request;
  return reportedAt === undefined ? open : { ...open, reportedAt };
}

function isAgentReport(message: Message): boolean {
  const said = saidByAgent(message);
  return !hasCalls(message) && said !== '' && !saysNothing(said);
}

function requestOf({ said, at, after }: Asked, redact: Redact): LastRequest {
  const answered =
    after === undefined ? undefined : whatIsAnswered(textOf(after.message), said, redact);
  return {
    text: inBrief(redact(said)),
    at,
    ...(answered === undefined ? {} : { answers: answeredText(answered) }),
  };
}

/** A text, or its first and its last sentence. */
function inBrief(text: string): string {
  const line = text.replace(/[\s\u0085]+/g, ' ').trim();
  if (line.length <= REQUEST_CHARS) return line;
  const all = sentences(line);
  const [first = '', last] = [all[0], all.length > 1 ? all.at(-1) : undefined];
  if (last === undefined) return oneLine(first, REQUEST_CHARS);
  return `${oneLine(first, SENTENCE_CHARS)} … ${oneLine(last, SENTENCE_CHARS)}`;
}
