import type { ToolPolicies, ToolPolicy } from '@bobbin/core';

const POLICY = Symbol.for('bobbin.tool-policy');

/** Declares beside a tool what its results are worth (C10): how durable they are, which of their fields survive. */
export function withPolicy<Tool extends object>(tool: Tool, policy: ToolPolicy): Tool {
  return Object.assign(tool, { [POLICY]: policy });
}

/** The policies of a set of tools by name, of those that declare one. */
export function policiesOf(tools: Readonly<Record<string, object>>): ToolPolicies {
  return Object.fromEntries(
    Object.entries(tools).flatMap(([name, tool]) => {
      const policy = (tool as { readonly [POLICY]?: ToolPolicy })[POLICY];
      return policy === undefined ? [] : [[name, policy]];
    }),
  );
}
