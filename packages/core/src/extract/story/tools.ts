import { sorted } from '../../check/list.ts';
import { isJsonObject, parseJson } from '../../message/json.ts';
import { callsOf } from '../../message/message.ts';
import type { ToolUse } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';

const MOST_TOOLS = 40;
const MOST_ARGUMENTS = 8;

/** The tools that were called, those called most first, each with the names of the arguments that it was given. */
export function toolsOf(nodes: readonly Node[], before: readonly ToolUse[]): readonly ToolUse[] {
  const tools = new Map(
    before.map(({ tool, calls, args }) => [tool, { tool, calls, args: new Set(args) }]),
  );
  for (const { message } of nodes)
    for (const { tool, args } of callsOf(message)) {
      const used = tools.get(tool) ?? { tool, calls: 0, args: new Set<string>() };
      tools.set(tool, used);
      used.calls++;
      const given = parseJson(args);
      if (isJsonObject(given)) for (const name of Object.keys(given)) used.args.add(name);
    }
  return sorted(
    [...tools.values()].map(({ args, ...used }) => ({
      ...used,
      args: [...args].slice(0, MOST_ARGUMENTS),
    })),
    (a, b) => b.calls - a.calls,
  ).slice(0, MOST_TOOLS);
}
