import { isJsonObject, parseJson, type Json, type JsonObject } from '../thread/json.ts';
import {
  resultText,
  type Determinism,
  type Durability,
  type ResultPart,
} from '../thread/message.ts';
import type { CaptureDeterminism } from '../ports.ts';

/** What a tool declares of its results (C10). */
export interface ToolPolicy {
  readonly durability?: Durability;
  /** Fields of a JSON result that survive clearing. */
  readonly preserveFields?: readonly string[];
  readonly externalizeOverTokens?: number;
  readonly replayCost?: 'free' | 'cheap' | 'expensive';
  readonly captureDeterminism?: CaptureDeterminism;
  readonly ttlMs?: number;
  readonly replacement?: string;
}

export type ToolPolicies = Readonly<Record<string, ToolPolicy>>;

const DEFAULT_DURABILITY: Durability = 'anchoring';

/** The policy for a tool wins over what its result's envelope says; the default is anchoring. */
export function durabilityOf(result: ResultPart, tools: ToolPolicies): Durability {
  const policy = result.tool === undefined ? undefined : tools[result.tool];
  return policy?.durability ?? result.durability ?? DEFAULT_DURABILITY;
}

/** True unless both sides show the same mark: what cannot be verified counts as changed. */
export function hasDrifted(then: Determinism, now: Determinism): boolean {
  for (const mark of ['contentHash', 'etag', 'mtime', 'version'] as const) {
    if (then[mark] !== undefined && now[mark] !== undefined) return then[mark] !== now[mark];
  }
  return true;
}

/** A replayable result whose source has drifted, or cannot be checked, is non-replayable. */
export async function verifiedDurability(
  result: ResultPart,
  args: string,
  tools: ToolPolicies,
): Promise<Durability> {
  const declared = durabilityOf(result, tools);
  if (declared !== 'replayable') return declared;
  const capture = result.tool === undefined ? undefined : tools[result.tool]?.captureDeterminism;
  if (capture === undefined || result.determinism === undefined) return 'non-replayable';
  const now = await capture({ tool: result.tool ?? '', args }).catch(() => undefined);
  return now === undefined || hasDrifted(result.determinism, now) ? 'non-replayable' : 'replayable';
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
