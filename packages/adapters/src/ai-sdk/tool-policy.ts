import type { ToolPolicy } from '@bobbin/core';
import { checkToolPolicy, type ToolPolicies } from '@bobbin/core/internal';

const POLICY = Symbol.for('bobbin.tool-policy');

/**
 * Declares with a tool what its results are worth: how durable they are, which of their fields survive.
 *
 * @throws TypeError, one line that names the field, if the policy is not valid.
 */
export function withPolicy<Tool extends object>(tool: Tool, policy: ToolPolicy): Tool {
  checkToolPolicy(policy, 'policy');
  return Object.assign(tool, { [POLICY]: policy });
}

/**
 * Policies by the names of their tools, as `createBobbin` takes them.
 *
 * @throws TypeError if the agent's tools were given instead.
 */
export function checkedPolicies(tools: ToolPolicies = {}): ToolPolicies {
  const tool = Object.entries(tools).find(([, given]) => isTool(given))?.[0];
  if (tool === undefined) return tools;
  throw new TypeError(
    `tools.${tool} is a tool, tools takes policies such as { ${tool}: { durability: 'replayable' } }: pass the agent's tools as toolSet`,
  );
}

function isTool(given: unknown): boolean {
  return (
    typeof given === 'object' && given !== null && ('inputSchema' in given || 'execute' in given)
  );
}

/**
 * The policies of a set of tools by name, of those that declare one.
 *
 * @throws TypeError if the tools have no names: a host may have no types that would report it.
 */
export function policiesOf(tools: Readonly<Record<string, object>>): ToolPolicies {
  if (Array.isArray(tools))
    throw new TypeError('toolSet must be an object of tools by their names, not a list');
  return Object.fromEntries(
    Object.entries(tools).flatMap(([name, tool]) => {
      const policy = (tool as { readonly [POLICY]?: ToolPolicy })[POLICY];
      return policy === undefined ? [] : [[name, policy]];
    }),
  );
}
