import {
  isJsonObject,
  MEMORY_TOOLS,
  parseJson,
  type JsonObject,
  type MemoryTool,
} from '@bobbin/core/internal';

/** A call that a model made. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** The answer to one of the gateway's own calls. */
export interface CallResult {
  readonly id: string;
  readonly text: string;
}

/** How a protocol offers tools, calls them and takes their results. */
export interface ToolShape {
  /** A tool as a request offers it. */
  define(tool: MemoryTool['definition']): JsonObject;
  /** The name of a tool that a request offers. */
  nameOf(tool: JsonObject): unknown;
  /** False if a request cannot be continued by further ones that its client does not see. */
  allows(body: JsonObject): boolean;
  /** The choice of tools with which a model must answer without a call. */
  readonly noCalls: JsonObject | string;
  /** True if the model waits for the results of its calls; false if its answer was cut off. */
  waits(answer: JsonObject): boolean;
  /** An answer as the messages of the next request. */
  asMessages(answer: JsonObject): readonly JsonObject[];
  callsIn(messages: readonly JsonObject[]): readonly ModelCall[];
  /** Messages without the gateway's own calls; one that says nothing else is left out. */
  withoutOwnCalls(messages: readonly JsonObject[]): readonly JsonObject[];
  results(results: readonly CallResult[]): readonly JsonObject[];
  /** How many messages at the start of a list are one answer. */
  answerLength(messages: readonly JsonObject[]): number;
  /** The messages after an answer, with the results of the gateway's own calls among those of the client's. */
  withResults(results: readonly JsonObject[], after: readonly JsonObject[]): readonly JsonObject[];
  /** Several answers as one, without the gateway's own calls. */
  merged(answers: readonly JsonObject[]): JsonObject;
  newStream(): MergedEvents;
}

/** The events of several streams as those of one, without the gateway's own calls. */
export interface MergedEvents {
  /** What the client gets for an event. */
  event(data: JsonObject): readonly JsonObject[];
  /** The stream of a further answer begins. */
  next(): void;
  /** What the stream ends with. */
  end(): readonly (JsonObject | typeof DONE)[];
  /** An error that a further request was answered with, as the protocol has it in a stream. */
  error(body: JsonObject): JsonObject;
}

/** The last event of a stream of Chat Completions. */
export const DONE = '[DONE]';

const OWN_NAMES: ReadonlySet<unknown> = new Set(
  MEMORY_TOOLS.map(({ definition }) => definition.name),
);

/** True for the name of a tool that the gateway answers itself. */
export function isOwnTool(name: unknown): boolean {
  return OWN_NAMES.has(name);
}

/** True if a request makes the model call a tool: it would have to call one in every further round. */
export function forcesCall({ tool_choice: choice }: JsonObject): boolean {
  if (!isJsonObject(choice)) return !FREE_CHOICES.has(choice ?? 'auto');
  const { type, allowed_tools: allowed } = choice;
  if (type !== 'allowed_tools') return !FREE_CHOICES.has(type);
  return !FREE_CHOICES.has((isJsonObject(allowed) ? allowed : choice)['mode']);
}

const FREE_CHOICES: ReadonlySet<unknown> = new Set(['auto', 'none']);

/** The arguments of a call that come as a text. */
export function argsIn(text: JsonObject[string]): unknown {
  return typeof text === 'string' ? parseJson(text) : undefined;
}

/** Usage of several requests: numbers are added up, anything else is as the last request has it. */
export function addedUp(usages: readonly JsonObject[]): JsonObject {
  const sum: Record<string, JsonObject[string]> = {};
  for (const usage of usages)
    for (const [name, value] of Object.entries(usage)) {
      const before = sum[name];
      if (typeof value === 'number' && typeof before === 'number') sum[name] = before + value;
      else if (isJsonObject(value) && isJsonObject(before)) sum[name] = addedUp([before, value]);
      else if (value !== null || before === undefined) sum[name] = value;
    }
  return sum;
}
