import { lastIndex } from '../../check/list.ts';
import { isJsonObject, parseJson } from '../../message/json.ts';
import { callsOf, startsTurn, type CallPart } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { SplitTurn } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import type { Node } from '../../thread/thread.ts';
import { callLine } from '../anchors/call-line.ts';
import { commandIn } from '../anchors/shell.ts';
import { touchedBy } from '../anchors/tool-effects.ts';
import { saidByAgent, withoutAnnouncements } from './agent-words.ts';
import { kindOfCommand } from '../work/commands.ts';
import { introduces, passagesOf } from './passages.ts';
import { saidByUser } from './user-words.ts';

/** What the agent said and did in the beginning of a turn whose end stays: the newest lines that fit, in its own words. */
export function splitTurnText(
  nodes: readonly Node[],
  { turn }: { readonly turn: number },
  before: SplitTurn | null,
  { mostChars, redact }: { readonly mostChars: number; readonly redact: Redact },
): SplitTurn {
  const all = nodes.filter((node) => node.turn === turn);
  const own = all.filter(({ message }) => message.role === 'assistant');
  const carried = before?.turn === turn ? before.text.split('\n') : [];
  const said = all.flatMap((node) =>
    node.message.role === 'assistant' ? saidIn(node) : asked(node, redact),
  );
  const lines = [
    ...carried,
    ...(said.length > 0 ? sinceTheUserSpoke(said) : calledIn(own).slice(-MOST_CALLS)),
  ];
  return { turn, text: newestWithin(lines.map(redact), Math.floor(mostChars)) };
}

/** Lines without most of those before a user spoke: what the agent thought then may be settled. */
function sinceTheUserSpoke(lines: readonly string[]): readonly string[] {
  const spoke = lastIndex(lines, (line) => BY_USER.test(line));
  return lines.slice(Math.max(0, spoke - MOST_BEFORE));
}

const BY_USER = /^- \[m\d+\] User: /;
const MOST_BEFORE = 2;

/** The newest lines within a number of characters; of a line that is longer than that, its beginning. */
function newestWithin(lines: readonly string[], mostChars: number): string {
  let left = mostChars;
  const from = lastIndex(lines, (line) => (left -= line.length + 1) < 0) + 1;
  return from < lines.length
    ? lines.slice(from).join('\n')
    : oneLine(lines.at(-1) ?? '', mostChars);
}

/** What a person said in the middle of a turn, as the answer to a question or the reason to refuse a call. */
function asked({ message, index }: Node, redact: Redact): readonly string[] {
  const said = startsTurn(message) ? [] : saidByUser(message);
  return said.map((words) => `- [m${index + 1}] User: ${oneLine(redact(words), SAID_CHARS)}`);
}
const SAID_CHARS = 160;

function saidIn({ message, index }: Node): readonly string[] {
  const shown = new Set<string>();
  const lines = passagesOf(saidByAgent(message))
    .filter((passage) => !introduces(passage))
    .map(({ lead, text, kind }) => {
      const begins = lead === '' || shown.has(lead) ? '' : `${lead} `;
      shown.add(lead);
      return begins + (kind === 'code' ? fenced(text) : inOneLine(text));
    })
    .filter((text) => text.length > 20);
  return lines.map((line) => `- [m${index + 1}] ${line}`);
}

const inOneLine = (text: string): string => withoutAnnouncements(text).replaceAll('\n', ' ');
const fenced = (code: string): string => `\n\`\`\`\n${code}\n\`\`\``;

/** True for a call that does not only look at something. */
function acts(call: CallPart): boolean {
  const command = commandIn(call);
  if (command !== undefined) return kindOfCommand(command) !== undefined;
  const { touches } = touchedBy(call);
  return touches.length > 0 ? touches.some(({ does }) => does !== 'reads') : !LOOKS.test(call.tool);
}

/** The name of a tool that only looks at something, or keeps a list for the agent. */
const LOOKS = /grep|glob|search|find|list|^ls$|read|view|get|fetch|todo|skill/i;

const CALL_CHARS = 140;
const MOST_CALLS = 6;

/** If the agent says nothing, its calls are shown: those that change something or check it, if there are any. */
function calledIn(nodes: readonly Node[]): readonly string[] {
  const acting = nodes.flatMap((node) => callText(node, callsOf(node.message).find(acts)));
  return acting.length > 0
    ? acting
    : nodes.flatMap((node) => callText(node, callsOf(node.message)[0]));
}

/** What an agent says of a call in its arguments, otherwise the call in one line. */
function callText({ index }: Node, call: CallPart | undefined): readonly string[] {
  if (call === undefined) return [];
  const given = parseJson(call.args);
  const description = isJsonObject(given) ? given['description'] : undefined;
  const line =
    typeof description === 'string' && description.length > 10
      ? oneLine(description, CALL_CHARS)
      : callLine(call.tool, call.args, CALL_CHARS);
  return [`- [m${index + 1}] ${line}`];
}
