import type { Counter, Message, Summary } from '@bobbin/core';
import { chars4, extract, fitSummary, type Node } from '@bobbin/core/internal';
import { assistant, call, result, thread } from '@bobbin/testing';

export const counter: Counter = chars4();

export function nodesOf(messages: readonly Message[]): readonly Node[] {
  return thread(...messages).path();
}

export function extracted(messages: readonly Message[], maxTokens: number = 2_000): Summary {
  const nodes = nodesOf(messages);
  return extract({ nodes, previous: null, task: null, round: 1, maxTokens, counter });
}

/** The text of an extract. */
export const text = (messages: readonly Message[], maxTokens: number = 2_000): string =>
  fitSummary(extracted(messages, maxTokens), maxTokens, counter) ?? '';

/** A call with its result. */
export function round(
  tool: string,
  args: Record<string, unknown>,
  output: string,
): readonly Message[] {
  const asked = call(tool, args as never);
  return [assistant(asked), result(asked, output)];
}
