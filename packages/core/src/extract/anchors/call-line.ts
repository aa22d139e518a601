import { isJsonObject, parseJson } from '../../message/json.ts';
import { headOf, oneLine } from '../../message/text.ts';
import { EDITOR } from './shell.ts';

const VALUE_CHARS = 90;

/** A call in one line: the command of a shell, otherwise its first value and the other short values by name. */
export function callLine(tool: string, args: string, most: number): string {
  const given = args.length > LONGEST_PARSED ? undefined : parseJson(args);
  if (!isJsonObject(given)) return shortened(oneLine(`${tool} ${args}`, most * 2), most);
  const { command = given['cmd'] } = given;
  if (typeof command === 'string' && !EDITOR.test(command))
    return shortened(oneLine(`${tool} ${command}`, most * 2), most);
  const texts: string[] = [];
  for (const [name, one] of Object.entries(given)) {
    const value = typeof one === 'string' && !SETTING_NAME.test(name) ? pathEnd(one) : undefined;
    if (value !== undefined && value.length <= VALUE_CHARS)
      texts.push(texts.length === 0 ? value : `${name}=${value}`);
  }
  return shortened(oneLine([tool, ...texts].join(' '), most * 2), most);
}

const LONG_PATH = /^[/~][^\s]*$/;
const PATH_NAMES = 3;

/** The last names of a long path; any other value as it is. */
function pathEnd(value: string): string {
  if (value.length <= VALUE_CHARS || !LONG_PATH.test(value)) return value;
  return `…/${value.split('/').slice(-PATH_NAMES).join('/')}`;
}

const LONGEST_PARSED = 20_000;
const SETTING_NAME = /timeout|_ms$|limit|offset|mode$|^-|background|activeForm/i;

/** The beginning of a line, cut at a space if one is near. */
function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const cut = line.lastIndexOf(' ', most - 1);
  return `${cut > most * 0.6 ? line.slice(0, cut) : headOf(line, Math.max(0, most - 1))}…`;
}
