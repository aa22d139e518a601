import { textOf, type CallPart, type Message } from '@bobbin/core';
import { callsOf, isJsonObject, parseJson, resultsOf, resultText } from '@bobbin/core/internal';

/** A call as a person would say it: the tool and the first text among its arguments. */
export function callGist({ tool, args }: CallPart): string {
  const parsed = parseJson(args);
  const first = isJsonObject(parsed)
    ? Object.values(parsed).find((value) => typeof value === 'string')
    : undefined;
  return `${tool} ${typeof first === 'string' ? first : args}`;
}

/** What a message says: its text, its calls, its results. */
export function gist(message: Message): string {
  const calls = callsOf(message).map((call) => `→ ${callGist(call)}`);
  const results = resultsOf(message).map(resultText);
  return [textOf(message), ...calls, ...results].filter((text) => text !== '').join('  ');
}
