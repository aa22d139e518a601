import type { Json, ToolPolicies } from '@bobbin/core/internal';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { readArtifactTool } from './read-artifact.ts';
import { readTool } from './read.ts';
import { recallTool } from './recall.ts';
import type { Tool } from './tool.ts';
import { writeTool } from './write.ts';

/** The agent's tools by name. */
export type Toolbox = ReadonlyMap<string, Tool>;

export function toolbox(root: string): Toolbox {
  const tools = [
    readTool(root),
    writeTool(root),
    editTool(root),
    bashTool,
    grepTool(root),
    globTool(root),
    readArtifactTool,
    recallTool,
  ];
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/** What the tools declare of their results. */
export function toolPolicies(tools: Toolbox): ToolPolicies {
  return Object.fromEntries([...tools].map(([name, { policy }]) => [name, policy]));
}

/** The tools as they are sent, to be counted. */
export function toolSchemas(tools: Toolbox): Json {
  return [...tools.values()].map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
}
