import { lastIndex } from '../../check/list.ts';
import { isJsonObject, parseJson } from '../../message/json.ts';
import { callsOf } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { SplitTurn } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { callLine } from '../anchors/call-line.ts';
import { saidByAgent, withoutAnnouncements } from './agent-words.ts';
import { passagesOf } from './passages.ts';

/** What the agent said and did in the beginning of a turn whose end stays: the newest lines that fit, in its own words. */
export function splitTurnText(
  nodes: readonly Node[],
  { turn }: { readonly turn: number },
  before: SplitTurn | null,
  mostChars: number,
): SplitTurn {
  const own = nodes.filter((node) => node.turn === turn && node.message.role === 'assistant');
  const carried = before?.turn === turn ? before.text.split('\n') : [];
  const said = own.flatMap(saidIn);
  const lines = [
    ...carried,
    ...(said.length > 0 ? said : own.flatMap(calledIn).slice(-MOST_CALLS)),
  ];
  return { turn, text: newestWithin(lines, Math.floor(mostChars)) };
}

/** The newest lines within a number of characters; of a line that is longer than that, its beginning. */
function newestWithin(lines: readonly string[], mostChars: number): string {
  let left = mostChars;
  const from = lastIndex(lines, (line) => (left -= line.length + 1) < 0) + 1;
  return from < lines.length
    ? lines.slice(from).join('\n')
    : oneLine(lines.at(-1) ?? '', mostChars);
}

function saidIn({ message, index }: Node): readonly string[] {
  const lines = passagesOf(saidByAgent(message))
    .filter(({ kind }) => kind === 'prose')
    .map(({ text }) => withoutAnnouncements(text).replaceAll('\n', ' '))
    .filter((text) => text.length > 20);
  return lines.map((line) => `- [m${index + 1}] ${line}`);
}

const CALL_CHARS = 140;
const MOST_CALLS = 6;

/**
 * If the agent says nothing, its calls are shown: by what it says of them in their arguments, otherwise by their line.
 */
function calledIn({ message, index }: Node): readonly string[] {
  const [call] = callsOf(message);
  if (call === undefined) return [];
  const given = parseJson(call.args);
  const description = isJsonObject(given) ? given['description'] : undefined;
  const line =
    typeof description === 'string' && description.length > 10
      ? oneLine(description, CALL_CHARS)
      : callLine(call.tool, call.args, CALL_CHARS);
  return [`- [m${index + 1}] ${line}`];
}
