import { sorted } from '../../check/list.ts';
import { isJsonObject, parseJson, type Json, jsonText } from '../../message/json.ts';
import { callsOf } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { ToolUse } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';

const MOST_TOOLS = 40;
const MOST_ARGUMENTS = 8;
const VALUE_CHARS = 28;

/** The tools that were called, those called most first, each with the last value of each of its arguments. */
export function toolsOf(nodes: readonly Node[], before: readonly ToolUse[]): readonly ToolUse[] {
  const tools = new Map<
    string,
    { calls: number; last: string; readonly args: Map<string, Json> }
  >();
  const known = new Map(before.map((use) => [use.tool, use]));
  for (const { message } of nodes)
    for (const { tool, args } of callsOf(message)) {
      const used = tools.get(tool) ?? {
        calls: known.get(tool)?.calls ?? 0,
        last: '',
        args: new Map<string, Json>(),
      };
      tools.set(tool, used);
      used.calls++;
      used.last = args;
      const given = parseJson(args);
      if (!isJsonObject(given)) continue;
      for (const [name, value] of Object.entries(given)) used.args.set(name, value ?? null);
    }
  const used = [...tools].map(([tool, { calls, last, args }]): ToolUse => ({
    tool,
    calls,
    example: args.size === 0 ? oneLine(last, VALUE_CHARS) : inShort(args),
  }));
  return sorted(
    [...used, ...before.filter(({ tool }) => !tools.has(tool))],
    (a, b) => b.calls - a.calls,
  ).slice(0, MOST_TOOLS);
}

function inShort(args: ReadonlyMap<string, Json>): string {
  const fields = [...args]
    .slice(0, MOST_ARGUMENTS)
    .map(([name, value]) => `"${name}":${shortValue(value)}`);
  return `{${fields.join(',')}}`;
}

function shortValue(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(oneLine(value, VALUE_CHARS));
  return oneLine(jsonText(value), VALUE_CHARS);
}
