import { isJsonObject, parseJson } from '../message/json.ts';
import {
  callsOf,
  resultsOf,
  resultText,
  textOf,
  type CallPart,
  type Message,
} from '../message/message.ts';
import { oneLine } from '../message/text.ts';

/** What a call asks for, in one line: the first argument that a person would name it by. */
function describeCall(call: CallPart): string {
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

/** More lines than this are not counted: the time for one message has a bound. */
const MOST_LINES = 200_000;

function lineCount(text: string): string {
  let lines = text === '' ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    if (++lines > MOST_LINES) return `over ${MOST_LINES} lines`;
  return `${lines} lines`;
}

/** What a message holds, in one line, for a pointer or an index entry. */
export function describeMessage(
  message: Message,
  callOf: (callId: string) => CallPart | undefined = () => undefined,
): string {
  const results = resultsOf(message);
  if (results.length > 0) {
    return results
      .map((result) => {
        const call = callOf(result.callId);
        const text = resultText(result);
        const lines = lineCount(text);
        const asked = call === undefined ? '' : `(${describeCall(call)})`;
        const outcome = result.outcome === undefined ? '' : ` ${result.outcome},`;
        return `${result.tool ?? call?.tool ?? 'tool'}${asked}:${outcome} ${lines}`;
      })
      .join('; ');
  }
  const calls = callsOf(message).map((c) => `${c.tool}(${describeCall(c)})`);
  return oneLine([textOf(message), ...calls].filter((text) => text !== '').join(' '));
}
