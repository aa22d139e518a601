import type { DialectName, ProviderServer } from '@bobbin/testing';

/** How a host is set up for a scenario. */
export interface HostUse {
  readonly windowTokens: number;
  /** Whether the host offers Bobbin's tools to its model. LangChain's middleware always does. */
  readonly memory: 'offered' | 'not offered';
  /** The tool `read_file`. */
  readonly readFile: () => string;
}

/** A conversation in a real framework, and what its adapter can do with it. */
export interface HostRun {
  /** The user says something, and the host asks the model until it calls no more tools. */
  turn(text: string): Promise<void>;
  /** Pins the message in which the user said the text. */
  pin(text: string): Promise<void>;
  compact(): Promise<unknown>;
  undo(): Promise<boolean>;
  recall(query: string): Promise<string>;
  close?(): void;
}

export interface Host {
  readonly name: string;
  readonly dialect: DialectName;
  open(server: ProviderServer, use: HostUse): HostRun | Promise<HostRun>;
}

export const INSTRUCTIONS = 'You answer questions about files.';

/** The message of a history that holds a text. */
export function messageWith<Wire>(history: readonly Wire[], text: string): Wire {
  const found = history.find((message) => JSON.stringify(message).includes(text));
  if (found === undefined) throw new Error(`nobody said ${text}`);
  return found;
}
