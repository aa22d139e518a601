import type { ArtifactStore, Store, ToolPolicy } from '@bobbin/core';
import type { Determinism, Json, JsonObject, Outcome, ThreadKey } from '@bobbin/core/internal';
import type { PermissionRequest } from '../loop/permissions.ts';
import type { Arguments } from './arguments.ts';

/** What a tool may use. */
export interface ToolContext {
  /** The project's folder: relative paths start here. */
  readonly root: string;
  readonly key: ThreadKey;
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly signal: AbortSignal;
  /** Emits what a long-running tool has put out so far. */
  readonly progress: (text: string) => void;
}

export interface ToolImage {
  readonly mediaType: string;
  readonly base64: string;
}

/** What a tool gives back: the text for the model, and what the engine and a person need to know of it. */
export interface ToolOutput {
  readonly text: string;
  readonly outcome: Outcome;
  readonly keyFields?: JsonObject;
  readonly determinism?: Determinism;
  readonly image?: ToolImage;
  /** The change that was made, for the eye. */
  readonly diff?: string;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** The JSON schema of its arguments. */
  readonly parameters: JsonObject;
  /** How long its results matter, and what of them survives. */
  readonly policy: ToolPolicy;
  /** What a person must have allowed before it runs with these arguments. */
  request?(args: Arguments, root: string): PermissionRequest | undefined;
  /** The change that it would make, for the person who is asked. */
  preview?(args: Arguments): Promise<string | undefined>;
  run(args: Arguments, context: ToolContext): Promise<ToolOutput>;
}

/** The schema of an object: every property is required but those in `optional`. */
export function objectSchema(properties: Record<string, Json>, ...optional: string[]): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export function text(description: string): Json {
  return { type: 'string', description };
}

export function integer(description: string): Json {
  return { type: 'integer', description };
}

export function failure(reason: string, keyFields?: JsonObject): ToolOutput {
  return { text: reason, outcome: 'failure', ...(keyFields === undefined ? {} : { keyFields }) };
}
