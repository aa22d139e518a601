import { lastIndex, lastOf } from '../../check/list.ts';
import {
  callsOf,
  hasCalls,
  resultsOf,
  startsTurn,
  textOf,
  type Message,
} from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { ToolOutcome } from '../../plan/summary.ts';
import { hasPassed, isCheck, saysPassed } from '../../summary/entry-texts.ts';
import type { Redact } from '../../summary/redact.ts';
import type { Node } from '../../thread/thread.ts';
import { callLine } from '../anchors/call-line.ts';
import type { Run } from '../work/commands.ts';
import { sentences, type Passage } from './passages.ts';

/** Why an agent's message was written: to end a turn, or between two calls. */
export type Role = 'final report' | 'report' | 'step';

/** A text of this length reports something, even if the agent goes on working. */
const REPORT_CHARS = 300;

/**
 * The messages of an agent with text, each with its role. A report is a long text, or the last of a turn without calls
 * after it. Of a turn that was broken off, the longest text is its report.
 */
export function rolesOf(nodes: readonly Node[]): ReadonlyMap<number, Role> {
  const roles = new Map<number, Role>();
  let last: Node | undefined;
  let longest: Node | undefined;
  let lastReport: number | undefined;
  const close = (): void => {
    const report = last === undefined || hasCalls(last.message) ? longest : last;
    if (report === undefined) return;
    roles.set(report.index, 'report');
    lastReport = report.index;
  };
  for (const node of nodes) {
    const { message, index } = node;
    if (startsTurn(message)) {
      close();
      [last, longest] = [undefined, undefined];
    } else if (message.role === 'assistant') {
      last = node;
      const { length } = textOf(message);
      if (length > 0) roles.set(index, length < REPORT_CHARS ? 'step' : 'report');
      if (
        length >= Math.max(REPORT_CHARS, longest === undefined ? 0 : textOf(longest.message).length)
      )
        longest = node;
    }
  }
  // A turn that is not over has no report yet.
  longest = undefined;
  close();
  if (lastReport !== undefined) roles.set(lastReport, 'final report');
  return roles;
}

/** Marks that some models put around what they think aloud. */
const THINKING_TAGS =
  /^[ \t]{0,40}<\/?(?:thinking|think|scratchpad)>|<\/(?:thinking|think|scratchpad)>[ \t]{0,40}$/gm;

/** What an agent says in a message. */
export const saidByAgent = (message: Message): string =>
  textOf(message).replace(THINKING_TAGS, '').trim();

/** Announces what comes next: the calls that follow show it. */
const ANNOUNCES =
  /^\W*(?:(?:ok(?:ay)?|now|first|next|then|good|great|perfect|excellent|alright|and|so|also|but|i see)\b[,.!:]?\s+)*(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to|i need to|i should|now i|we need to|time to|looking at)\b/i;
/** Says that something is so, why, or what was chosen. */
const CONCLUDES =
  /\b(?:because|since|so that|therefore|instead|rather than|not needed|root cause|the (?:issue|problem|bug|fix|reason|cause)|fixed|added|removed|renamed|changed|replaced|reverted|moved|created|updated|pass(?:es|ed)?|fail(?:s|ed|ing)?|means|decided|chose|conflict|done|complete|committed|pushed|works?|missing|wrong|must|never|only)\b/i;
const REASONS = /\b(?:because|since|so that|instead|rather than|which means)\b/i;
/** What an agent answers when nothing is asked of it. */
const SAYS_NOTHING =
  /^\W*(?:no response (?:requested|needed)|\(no content\)|understood|done|fixed|all (?:done|set)|ok(?:ay)?|got it|good (?:points?|questions?|idea|catch)|exactly(?: right)?|you['’]re (?:absolutely )?right|(?:that )?makes sense|sounds good|sure|great|perfect|excellent)\W*$|^API Error: /i;

export const saysNothing = (text: string): boolean => SAYS_NOTHING.test(text);

/** A passage of a step without the sentences that only announce. Empty if nothing is left. */
export function withoutAnnouncements(text: string): string {
  return sentences(text)
    .filter((sentence) => !ANNOUNCES.test(sentence) || REASONS.test(sentence))
    .join(' ');
}

const STEP_SAYS_CHARS = 80;

/** True for a remark between calls that says something which the report of its turn may not say. */
export const isFinding = (text: string): boolean =>
  text.length >= STEP_SAYS_CHARS && CONCLUDES.test(text);

/** Says that a report follows, and nothing of what it reports. */
const PREAMBLE =
  /^\W*(?:(?:ok(?:ay)?|now|good|great|perfect|excellent|alright|so)\b[,.!]?\s+)*(?:i (?:now )?have (?:a|an|all|enough|everything)\b.{0,80}|(?:let me|i['’]ll) (?:now )?(?:summari[sz]e|explain|present|lay out|share|walk)\b.{0,80}|here(?:['’]s| is| are) (?:what|a|an|the|my|how)\b.{0,60})[.:!]?\W*$/i;

/** A passage of a report without the sentences that only introduce it. Empty if nothing is left. */
export function withoutPreamble(text: string): string {
  if (!PREAMBLE_WORDS.test(text)) return text;
  return sentences(text)
    .filter((sentence) => !PREAMBLE.test(sentence))
    .join(' ');
}

const PREAMBLE_WORDS = /\b(?:have|let me|i['’]ll|here)\b/i;

const CAUSE_CHARS = 260;
const LEAST_CAUSE_CHARS = 40;

/** What an agent says of a cause, in whole sentences; empty if it says none. */
export function causeIn(text: string): string {
  const said = text.split('\n').flatMap((line) => sentences(withoutAnnouncements(line)));
  const from = said.findIndex(
    (sentence) => sentence.length >= LEAST_CAUSE_CHARS && CONCLUDES.test(sentence),
  );
  let left = CAUSE_CHARS;
  return from < 0
    ? ''
    : said
        .slice(from)
        .filter((sentence) => (left -= sentence.length + 1) >= 0)
        .join(' ');
}

const MERIT: Readonly<Record<Role, number>> = { 'final report': 3, report: 3, step: 0.6 };
const CODE_MERIT = 0.7;
/** Says why something failed: no report may say it again. */
const CAUSE =
  /\b(?:the (?:\w+ )?(?:issue|problem|bug|cause|reason|error) (?:is|was)|root cause|because|(?:found|see|spotted) (?:the|an?|another) (?:\w+ )?(?:issue|problem|bug|cause)|found it|turns out|caused by|due to)\b/i;
const CAUSE_MERIT = 2;

export const saysCause = (text: string): boolean => CAUSE.test(text);

/** How much a passage helps a reader for each of its characters, in addition to the exact strings in it. */
export function meritOf(passage: Passage, role: Role, age: number): number {
  const { text, kind } = passage;
  const fresh = 0.6 + 0.4 / (1 + age / 40);
  if (kind === 'code') return MERIT[role] * CODE_MERIT * fresh;
  const concludes = CONCLUDES.test(text) ? 1.3 : 0.8;
  const merit = role === 'step' && saysCause(text) ? CAUSE_MERIT : MERIT[role];
  return merit * fresh * concludes;
}

/** What an agent announced longer ago has been done or given up. */
const NEWEST_MESSAGES = 12;
const STEP_CHARS = 240;
const SHORT_STEP_CHARS = 60;

/**
 * What the agent says last that it does next, or asks, in its own words, and the last call that was answered since; none
 * if the user has spoken since.
 */
export function nextStep(
  nodes: readonly Node[],
  runs: readonly Run[],
  redact: Redact,
): readonly string[] {
  const newest = nodes.slice(-NEWEST_MESSAGES);
  for (let i = newest.length - 1; i >= 0; i--) {
    const { message } = newest[i] as Node;
    if (startsTurn(message)) return [];
    if (message.role !== 'assistant') continue;
    const said = redact(saidByAgent(message))
      .split('\n')
      .flatMap((line) => sentences(line.trim()));
    const at = lastIndex(said, (sentence) => sentence.endsWith('?') || ANNOUNCES.test(sentence));
    if (at >= 0) return [stepAt(said, at) + sinceThen(newest.slice(i), runs, redact)];
    if (said.length > 0) return [];
  }
  return [];
}

/** Says which call was answered last and how a check ended, so that nobody makes it again. */
function sinceThen(nodes: readonly Node[], runs: readonly Run[], redact: Redact): string {
  const answered = new Set(
    nodes.flatMap(({ message }) => resultsOf(message)).map(({ callId }) => callId),
  );
  const calls = nodes.flatMap(({ message }) => callsOf(message));
  const call = lastOf(calls, ({ callId }) => answered.has(callId));
  if (call === undefined) return '';
  const ended = lastOf(runs, ({ callId }) => callId === call.callId)?.outcome;
  return ` (since then: ${callLine(call.tool, redact(call.args), CALL_CHARS)}${verdictOf(ended)})`;
}

function verdictOf(run: ToolOutcome | undefined): string {
  if (run === undefined || !isCheck(run)) return '';
  if (hasPassed(run)) return saysPassed(run) ? ' → passed' : '';
  return run.guessed === true ? '' : ' → failed';
}

const CALL_CHARS = 100;

/** A step, with the sentence before it if the step is short and says little alone. */
function stepAt(said: readonly string[], at: number): string {
  const step = said[at] ?? '';
  const both = [said[at - 1] ?? '', step].join(' ').trim();
  const text = step.length < SHORT_STEP_CHARS && both.length <= STEP_CHARS ? both : step;
  return oneLine(text.replace(/:$/, '.'), STEP_CHARS);
}
