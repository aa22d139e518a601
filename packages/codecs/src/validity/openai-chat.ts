import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { named, Pairs } from './pairs.ts';

/**
 * What Chat Completions would refuse of a list of messages, one located line each. Every call is answered by the
 * messages directly after it, and an assistant message says or calls something.
 */
export function openaiChatProblems(messages: readonly object[]): readonly string[] {
  const pairs = new Pairs();
  const problems: string[] = [];
  messages.forEach((wire, i) => {
    const path = `messages[${i}]`;
    const message = wire as JsonObject;
    const { role } = message;
    if (role === 'tool') return pairs.result(path, message['tool_call_id']);
    if (role === 'function') return pairs.result(path, functionId(message));
    pairs.close();
    if (role === 'assistant') problems.push(...assistantProblems(path, message, pairs));
    else if (!SPEAKERS.has(role)) problems.push(`${path}.role: there is no such role`);
    else if (message['content'] === null || message['content'] === undefined)
      problems.push(`${path}.content: must not be empty`);
  });
  pairs.close();
  return [...problems, ...pairs.problems];
}

const SPEAKERS = new Set<unknown>(['system', 'developer', 'user']);

function assistantProblems(path: string, message: JsonObject, pairs: Pairs): readonly string[] {
  const { tool_calls: calls, function_call: called, content, refusal, audio } = message;
  if (isJsonObject(called)) pairs.call(path, functionId(called));
  if (Array.isArray(calls)) {
    if (calls.length === 0) return [`${path}.tool_calls: must not be an empty list`];
    (calls as readonly JsonObject[]).forEach(({ id }, i) =>
      pairs.call(`${path}.tool_calls[${i}]`, id),
    );
    return [];
  }
  const says = [content, refusal, audio, called].some(
    (said) => said !== null && said !== undefined,
  );
  return says ? [] : [`${path}: must have content or tool_calls`];
}

/** Functions have no call ids. */
function functionId({ name }: JsonObject): string {
  return `function ${named(name)}`;
}
