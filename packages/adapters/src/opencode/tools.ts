import {
  readArtifactTool,
  recallTool,
  type JsonObject,
  type Memory,
  type MemoryTool,
  type ThreadKey,
} from '@bobbin/core/internal';

/** A tool as OpenCode takes it from a plugin. */
export interface OpenCodeTool {
  description: string;
  /** By its types OpenCode takes Zod schemas here. It takes JSON schemas as well, and then requires every argument. */
  args: Record<string, never>;
  /** The schema of all arguments, which says the truth about what is required. */
  schema: JsonObject;
  execute(args: unknown, context: { readonly sessionID: string }): Promise<string>;
}

/** `read_artifact` and `recall`, each on the thread of the session that calls it. */
export function openCodeTools(
  memory: Memory,
  threadOf: (sessionID: string) => ThreadKey,
): Record<string, OpenCodeTool> {
  const toolOf = ({ definition, answer }: MemoryTool): [string, OpenCodeTool] => {
    const { name, description, parameters } = definition;
    const args = parameters['properties'] as Record<string, never>;
    const execute: OpenCodeTool['execute'] = (given, { sessionID }) =>
      answer(memory, threadOf(sessionID), given);
    return [name, { description, args, schema: parameters, execute }];
  };
  return Object.fromEntries([readArtifactTool, recallTool].map(toolOf));
}
