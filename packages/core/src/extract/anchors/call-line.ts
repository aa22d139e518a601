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
  for (const [name, value] of Object.entries(given))
    if (typeof value === 'string' && value.length <= VALUE_CHARS && !SETTING_NAME.test(name))
      texts.push(texts.length === 0 ? value : `${name}=${value}`);
  return shortened(oneLine([tool, ...texts].join(' '), most * 2), most);
}

const LONGEST_PARSED = 20_000;
const SETTING_NAME = /timeout|_ms$|limit|offset|mode$|^-|background|activeForm/i;

/** The beginning of a line, cut at a space if one is near. */
function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const cut = line.lastIndexOf(' ', most - 1);
  return `${cut > most * 0.6 ? line.slice(0, cut) : headOf(line, Math.max(0, most - 1))}…`;
}
