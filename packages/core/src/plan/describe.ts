import { isJsonObject, parseJson } from '../thread/json.ts';
import {
  callsOf,
  resultsOf,
  resultText,
  textOf,
  type CallPart,
  type Message,
} from '../thread/message.ts';

const LONGEST = 160;

/** One line of a text: spaces joined, cut with a mark. */
export function oneLine(text: string, most: number = LONGEST): string {
  const line = text
    .slice(0, most * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** What a call asks for, in one line: the first argument that a person would name it by. */
export function describeCall(call: CallPart): string {
  const args = parseJson(call.args);
  if (!isJsonObject(args)) return oneLine(call.args);
  for (const name of [
    'command',
    'path',
    'file_path',
    'filePath',
    'file',
    'pattern',
    'query',
    'url',
  ]) {
    const value = args[name];
    if (typeof value === 'string') return oneLine(value);
  }
  return oneLine(call.args);
}

/** What a message holds, in one line, for a pointer or an index entry. */
export function describeMessage(message: Message, call?: CallPart): string {
  const results = resultsOf(message);
  if (results.length > 0) {
    return results
      .map((result) => {
        const text = resultText(result);
        const lines = text === '' ? 0 : text.split('\n').length;
        const asked = call === undefined ? '' : `(${describeCall(call)})`;
        const outcome = result.outcome === undefined ? '' : ` ${result.outcome},`;
        return `${result.tool ?? call?.tool ?? 'tool'}${asked}:${outcome} ${lines} lines`;
      })
      .join('; ');
  }
  const calls = callsOf(message).map((c) => `${c.tool}(${describeCall(c)})`);
  return oneLine([textOf(message), ...calls].filter((text) => text !== '').join(' '));
}
