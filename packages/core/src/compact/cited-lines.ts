import { saysWhatFailed } from '../extract/work/commands.ts';
import { resultsOf, resultText, textOf, type Message } from '../message/message.ts';
import { headOf } from '../message/text.ts';
import type { Stretch } from '../plan/plan.ts';

const PLACE = /([\w.-]{1,100}\.\w{1,8}):(\d{1,6})\b/g;
/** Older messages say less about what is read now. */
const NEWEST_MESSAGES = 40;
const READ_CHARS = 60_000;
const LONGEST_LINE = 400;

/** Places in files that the newest messages name: line numbers by the name of the file. */
export type CitedLines = ReadonlyMap<string, ReadonlySet<number>>;

/** The lines that failures and the words of people and the agent name. */
export function citedLines(messages: readonly Message[]): CitedLines {
  const cited = new Map<string, Set<number>>();
  for (const message of messages.slice(-NEWEST_MESSAGES))
    for (const line of linesThatCite(message))
      for (const [, name = '', number = ''] of line.matchAll(PLACE)) {
        const lines = cited.get(name) ?? new Set<number>();
        cited.set(name, lines.add(Number(number)));
      }
  return cited;
}

function linesThatCite(message: Message): readonly string[] {
  const failures = resultsOf(message).flatMap((result) =>
    headOf(resultText(result), READ_CHARS)
      .split('\n')
      .filter((line) => line.length <= LONGEST_LINE && saysWhatFailed(line)),
  );
  const said = message.role === 'tool' ? [] : [headOf(textOf(message), READ_CHARS)];
  return [...failures, ...said];
}

/** Where the cited lines of a file are in a text that has a number before each line, with some of what is before each. */
export function citedStretches(
  cited: CitedLines,
  path: string,
  text: string,
  charsBefore: number,
): readonly Stretch[] {
  const numbers = [...cited].flatMap(([name, lines]) => (names(name, path) ? [...lines] : []));
  return numbers.flatMap((number): readonly Stretch[] => {
    const line = new RegExp(`^\\s{0,40}${number}\\s{0,8}(?:→|\\t|\\|)[^\\n]*`, 'm').exec(text);
    if (line === null) return [];
    return [[Math.max(0, line.index - charsBefore), line.index + line[0].length]];
  });
}

/** The end of a name may be long enough to be known: a host that cuts a long output may have cut the beginning. */
const LEAST_END_CHARS = 8;
const names = (name: string, path: string): boolean =>
  path === name ||
  path.endsWith(`/${name}`) ||
  (name.length >= LEAST_END_CHARS && path.endsWith(name));
