import type { Usage } from '@bobbin/core';
import { isJsonObject, type ProviderReport } from '@bobbin/core/internal';

/** What the AI SDK reports of a step, in both majors. */
export interface StepUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly inputTokenDetails?:
    | {
        readonly cacheReadTokens?: number | undefined;
        readonly cacheWriteTokens?: number | undefined;
      }
    | undefined;
}

/** What a language model reports of a call, in both majors. */
export interface ModelUsage {
  readonly inputTokens?: {
    readonly total?: number | undefined;
    readonly cacheRead?: number | undefined;
    readonly cacheWrite?: number | undefined;
  };
  readonly outputTokens?: { readonly total?: number | undefined };
}

export function usageOfStep(usage: StepUsage | undefined): Usage | undefined {
  const { cacheReadTokens, cacheWriteTokens } = usage?.inputTokenDetails ?? {};
  return usageOf(usage?.inputTokens, usage?.outputTokens, cacheReadTokens, cacheWriteTokens);
}

export function usageOfModel({ inputTokens, outputTokens }: ModelUsage): Usage | undefined {
  const { total, cacheRead, cacheWrite } = inputTokens ?? {};
  return usageOf(total, outputTokens?.total, cacheRead, cacheWrite);
}

/** The SDK counts cached tokens as part of the input; apart from it they have other prices. */
function usageOf(
  input: number | undefined,
  output: number = 0,
  cacheReadTokens: number = 0,
  cacheWriteTokens: number = 0,
): Usage | undefined {
  if (input === undefined) return undefined;
  const inputTokens = Math.max(0, input - cacheReadTokens - cacheWriteTokens);
  return { inputTokens, outputTokens: output, cacheReadTokens, cacheWriteTokens };
}

/** What Anthropic's provider says about edits that the API made to a prompt, in the metadata of a step. */
export function reportsOfStep(metadata: unknown): readonly ProviderReport[] {
  const { anthropic } = isJsonObject(metadata) ? metadata : {};
  const { contextManagement } = isJsonObject(anthropic) ? anthropic : {};
  const { appliedEdits } = isJsonObject(contextManagement) ? contextManagement : {};
  if (!Array.isArray(appliedEdits)) return [];
  return appliedEdits.filter(isJsonObject).map(({ type, clearedInputTokens: freed }) => ({
    kind: 'provider-edited',
    edit: typeof type === 'string' ? type : 'unknown',
    freed: typeof freed === 'number' ? freed : 0,
  }));
}
