import type { JsonObject } from '@bobbin/core/internal';
import { Pairs } from './pairs.ts';

const ROLES = new Set<unknown>(['system', 'user', 'assistant', 'tool']);

/**
 * What the AI SDK and the providers that it writes for would refuse of a list of `ModelMessage`s, one located line
 * each: a call without an answer before the next speaker, and a result without its call.
 */
export function aiSdkProblems(messages: readonly object[]): readonly string[] {
  const pairs = new Pairs();
  const server = new Pairs();
  const problems: string[] = [];
  messages.forEach((wire, i) => {
    const { role, content } = wire as JsonObject;
    const path = `messages[${i}]`;
    if (role === 'user') server.close();
    if (role !== 'tool') pairs.close();
    if (!ROLES.has(role)) problems.push(`${path}.role: there is no such role`);
    const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
    parts.forEach(({ type, toolCallId, providerExecuted }, j) => {
      const at = `${path}.content[${j}]`;
      if (type === 'tool-call' && providerExecuted === true) server.call(at, toolCallId);
      else if (type === 'tool-call') pairs.call(at, toolCallId);
      else if (type === 'tool-result' && role === 'tool') pairs.result(at, toolCallId);
      else if (type === 'tool-result') server.result(at, toolCallId);
    });
  });
  pairs.close();
  return [...problems, ...pairs.problems, ...server.problems];
}
