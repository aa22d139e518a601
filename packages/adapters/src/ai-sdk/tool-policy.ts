import type { ToolPolicy } from '@bobbin/core';
import { checkToolPolicy, type ToolPolicies } from '@bobbin/core/internal';

const POLICY = Symbol.for('bobbin.tool-policy');

/**
 * Declares beside a tool what its results are worth: how durable they are, which of their fields survive.
 *
 * @throws TypeError, one line that names the field, where the policy is not one.
 */
export function withPolicy<Tool extends object>(tool: Tool, policy: ToolPolicy): Tool {
  checkToolPolicy(policy, 'policy');
  return Object.assign(tool, { [POLICY]: policy });
}

/**
 * The policies of a set of tools by name, of those that declare one.
 *
 * @throws TypeError where the tools have no names: a host may have no types to tell it.
 */
export function policiesOf(tools: Readonly<Record<string, object>>): ToolPolicies {
  if (Array.isArray(tools))
    throw new TypeError('tools must be an object of tools by their names, not a list');
  return Object.fromEntries(
    Object.entries(tools).flatMap(([name, tool]) => {
      const policy = (tool as { readonly [POLICY]?: ToolPolicy })[POLICY];
      return policy === undefined ? [] : [[name, policy]];
    }),
  );
}
