import { withoutColours } from '../work/commands.ts';
import { STOP } from '../../message/text.ts';
import { VOICE, type Voice } from '../anchors/scan.ts';

/** The indentation and the line number that a tool put before a line. */
const MARGIN = /^\s*(?:(\d{1,7})\s*(?:→|\t|\|)\s*)?/;

/** A line as it is quoted: without margin, colours and runs of blanks, after the number that a tool gave it. */
export function quoted(text: string, voice: Voice): string {
  if (voice === VOICE.args && DESCRIBES.test(text)) return '';
  const line = voice === VOICE.args ? plainArguments(text) : withoutColours(text);
  const number = MARGIN.exec(line)?.[1];
  const bare = flat(line.replace(MARGIN, ''));
  return number === undefined ? bare : `${number} ${bare}`;
}

/** A line however it is indented. */
export const flat = (line: string): string => line.replace(/\s+/g, ' ').trim();

/** Arguments that only say how to run a call. */
const SETTING =
  /,?"(?:[\w-]*(?:timeout|_ms|max_|_tokens|limit|offset)\w*|replace_?all|run_in_background|output_mode|-[a-zA-Z]|head_limit|yield_time_ms|activeForm)":\s?(?:-?\d+|true|false|null|"[\w ]{0,40}")[}\]]{0,3}/gi;
/** What a call is for: the call shows it. */
const DESCRIBES = /^[\s,{[]{0,8}"description"\s?:/;
/** The key that a value of arguments begins with, and the marks that it ends with. */
const KEY = /^[\s,{[]{0,8}"[\w-]{1,40}"\s?:\s?(?:\[\s?)?"?/;
const VALUE_END = /(?<!\\)"[\s,\]}]{0,12}$/;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: ' ', r: '', b: '', f: '' };

/** A stretch of arguments as a person reads it, without the marks of JSON. */
function plainArguments(sent: string): string {
  const bare = sent.replace(SETTING, '').replace(KEY, '').replace(VALUE_END, '');
  return bare.replace(ESCAPE, (whole, code: string | undefined, char: string | undefined) =>
    code !== undefined
      ? String.fromCharCode(Number.parseInt(code, 16))
      : (ESCAPED[char ?? ''] ?? char ?? whole),
  );
}

const CODE_WORDS = new Set(
  `return else continue break import from package func function def class const let var nil null none undefined true
  false err error self this await async end pass try except catch finally throw raise elif begin then done`.split(
    /\s+/,
  ),
);
const wordsIn = (line: string): readonly string[] =>
  line.toLowerCase().match(/[a-z][a-z0-9]{2,}/g) ?? [];
const LONE_WORD = /^\W*(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)\W*$/;
/** What tools put around what they say: the blobs of a diff, the frame of a command's output. */
const FRAME =
  /^(?:index [0-9a-f]+\.\.[0-9a-f]+|(?:Chunk ID|Wall time|Original token count|Output|Command|Total output lines):|(?:Exit code:|Process exited with code) 0$|<frozen )/;
/** A line that only names what a file needs. */
const IMPORTS =
  /^[+]?\s*(?:import\b(?!.*\w\()|from\s+\S+\s+import\b|#include\b|using\s[\w.]+;|use\s[\w:{}, ]+;|package\s\w+;?$|["'][\w@.~/:-]+["'][,;]?$|(?!(?:return|case|yield)\b)\w+ ["'][\w@.~:-]+\/[\w@.~/:-]+["']$)/;
export const isImport = (line: string): boolean => IMPORTS.test(line);
/** A row of a folder's listing. */
const LISTED = /^(?:total \d+$|[-dlbcps][-rwxsStT]{9}[@+.]?\s)/;

/** A test package that passed, or has none. */
const PASSED = /^(?:ok|PASS|[?])\s+\S+(?:\s|$)|^--- PASS|^=== RUN/;

/** What a host says in the place of a result, and what a push or a commit says of itself. */
const HOST =
  /^(?:\[error\] )?(?:<tool_use_error>|The user doesn['’]t want to proceed\b)|^To (?:github\.com|https?:|ssh:|git@)|^(?:modified|new file|deleted|renamed): /;

/** A line beside the one that a search found. */
const BESIDE_FOUND = /^\S+\.\w{1,8}-\d+-/;
/** What agents sign commits and pull requests with. */
const SIGNED = /^(?:Co-Authored-By: |\W{0,4}Generated with )/i;

const NOTHING = [LONE_WORD, PASSED, FRAME, IMPORTS, LISTED, HOST, BESIDE_FOUND, SIGNED];
const NAME = /\d{3}|[a-z][A-Z]|\w_\w|\w[./]\w/;

/** True for a line that says something: `} else {`, `"os"` and `if err != nil {` say nothing. */
export function tells(line: string): boolean {
  if (NOTHING.some((form) => form.test(line))) return false;
  return NAME.test(line) || wordsIn(line).some((word) => !STOP.has(word) && !CODE_WORDS.has(word));
}
