import { isJsonObject, type Json, type JsonObject, parseJson } from '../message/json.ts';
import {
  type CallPart,
  type Determinism,
  type Durability,
  type Message,
  type ResultPart,
  resultsOf,
  resultText,
} from '../message/message.ts';
import type { ArtifactMetadata, CaptureDeterminism } from '../ports.ts';
import type { Node } from '../thread/thread.ts';
import type { Hide } from './plan.ts';

/** Says how long the results of a tool matter, and how a compaction may treat them. */
export interface ToolPolicy {
  readonly durability?: Durability;
  /** Fields of a JSON result that stay when the result is cleared or trimmed. */
  readonly preserveFields?: readonly string[];
  readonly externalizeOverTokens?: number;
  /** How expensive it is to request a replayable result again. An expensive result is treated as non-replayable. */
  readonly replayCost?: 'free' | 'cheap' | 'expensive';
  /**
   * Returns the state of a result's source. It is called when a result arrives, and again before the result is cleared.
   */
  readonly captureDeterminism?: CaptureDeterminism;
  readonly ttlMs?: number;
  /**
   * The metadata of results that become artifacts. By default, the sensitivity is `internal`, the whole tenant may read
   * them, and they do not expire.
   */
  readonly artifact?: Partial<Pick<ArtifactMetadata, 'sensitivity' | 'ttlMs' | 'permissions'>>;
  readonly replacement?: string;
}

export type ToolPolicies = Readonly<Record<string, ToolPolicy>>;

const DEFAULT_DURABILITY: Durability = 'anchoring';

/** The policy for a tool wins over what its result's envelope says; the default is anchoring. */
export function durabilityOf(result: ResultPart, tools: ToolPolicies): Durability {
  const policy = result.tool === undefined ? undefined : tools[result.tool];
  return policy?.durability ?? result.durability ?? DEFAULT_DURABILITY;
}

/**
 * How the sources of replayable results look now, by call id. Without it, a later change could not be detected. A
 * result that carries its own marks keeps those.
 */
export async function captureDeterminism(
  results: readonly ResultPart[],
  callOf: (callId: string) => CallPart | undefined,
  tools: ToolPolicies,
): Promise<Readonly<Record<string, Determinism>>> {
  const sources: Record<string, Determinism> = {};
  for (const result of results) {
    const capture = result.tool === undefined ? undefined : tools[result.tool]?.captureDeterminism;
    if (capture === undefined || result.determinism !== undefined) continue;
    const call = durabilityOf(result, tools) === 'replayable' ? callOf(result.callId) : undefined;
    if (call === undefined) continue;
    const mark = await capture({ tool: call.tool, args: call.args }).catch(() => undefined);
    if (mark !== undefined) sources[result.callId] = mark;
  }
  return sources;
}

/** True unless both sides show the same mark: what cannot be verified counts as changed. */
export function hasDrifted(then: Determinism, now: Determinism): boolean {
  for (const mark of ['contentHash', 'etag', 'mtime', 'version'] as const) {
    if (then[mark] !== undefined && now[mark] !== undefined) return then[mark] !== now[mark];
  }
  return true;
}

/**
 * A replayable result whose source has changed, cannot be checked, or is expensive to ask again, is non-replayable.
 * `captured` is how the source looked when the result arrived.
 */
export async function verifiedDurability(
  result: ResultPart,
  args: string,
  tools: ToolPolicies,
  captured?: Determinism,
): Promise<Durability> {
  const declared = durabilityOf(result, tools);
  const then = result.determinism ?? captured;
  if (declared !== 'replayable') return declared;
  const policy = result.tool === undefined ? undefined : tools[result.tool];
  const capture = policy?.captureDeterminism;
  if (capture === undefined || then === undefined || policy?.replayCost === 'expensive')
    return 'non-replayable';
  const now = await capture({ tool: result.tool ?? '', args }).catch(() => undefined);
  return now === undefined || hasDrifted(then, now) ? 'non-replayable' : 'replayable';
}

/** The fields that stay when a result is cleared: those of the envelope, and those its tool asks to preserve. */
export function preservedFields(result: ResultPart, tools: ToolPolicies): JsonObject {
  const wanted = result.tool === undefined ? [] : (tools[result.tool]?.preserveFields ?? []);
  const content = wanted.length === 0 ? undefined : parseJson(resultText(result));
  const fields: Record<string, Json> = {};
  if (isJsonObject(content)) {
    for (const name of wanted) if (content[name] !== undefined) fields[name] = content[name];
  }
  return { ...fields, ...result.keyFields };
}

/** True if a message has a time to live. */
export function expires(message: Message, tools: ToolPolicies): boolean {
  return (message.meta?.ttlMs ?? toolPolicy(message, tools)?.ttlMs) !== undefined;
}

/** When a message expires; infinity if it never does. */
export function expiryOf(message: Message, tools: ToolPolicies): number {
  const ttlMs = message.meta?.ttlMs ?? toolPolicy(message, tools)?.ttlMs;
  const time = message.meta?.time;
  return ttlMs === undefined || time === undefined ? Number.POSITIVE_INFINITY : time + ttlMs;
}

/** The messages whose time to live is over, with their replacements. */
export function expired(nodes: readonly Node[], tools: ToolPolicies, now: number): readonly Hide[] {
  return nodes
    .filter(({ message }) => expiryOf(message, tools) < now)
    .map(({ id, message }) => ({ id, replacement: replacementFor(message, tools) }));
}

/** The next time at which something expires; what is pinned past its time waits for the next compaction. */
export function nextExpiry(nodes: readonly Node[], tools: ToolPolicies, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { message } of nodes) {
    const expiry = expiryOf(message, tools);
    if (expiry >= now) next = Math.min(next, expiry);
  }
  return next;
}

function replacementFor(message: Message, tools: ToolPolicies): string {
  const policy = toolPolicy(message, tools);
  return message.meta?.replacement ?? policy?.replacement ?? '[Hidden: no longer current]';
}

function toolPolicy(message: Message, tools: ToolPolicies): ToolPolicy | undefined {
  for (const { tool } of resultsOf(message)) {
    const policy = tool === undefined ? undefined : tools[tool];
    if (policy?.ttlMs !== undefined) return policy;
  }
  return undefined;
}
