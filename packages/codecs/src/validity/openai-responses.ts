import type { JsonObject } from '@bobbin/core/internal';
import { isKeptByProvider } from '../wire/kept-by-provider.ts';
import { named } from './pairs.ts';

/** What a request says in addition to its items: a stored response or conversation has its own calls. */
export interface ResponsesRequest {
  readonly previous_response_id?: unknown;
  readonly conversation?: unknown;
}

/**
 * What the Responses API would refuse of a list of items, one located line each. Every call has one output of its own
 * kind after it, and reasoning comes before what it led to.
 */
export function openaiResponsesProblems(
  items: readonly object[],
  request: ResponsesRequest = {},
): readonly string[] {
  const isStored = isKeptByProvider(request);
  const problems: string[] = [];
  const calls = new Map<string, { readonly path: string; readonly type: string }>();
  items.forEach((wire, i) => {
    const path = `input[${i}]`;
    const item = wire as JsonObject;
    const type = typeOf(item);
    const id = named(item['call_id']);
    // Tools that OpenAI searched for itself have no call id.
    const isSearch = type.startsWith('tool_search') && typeof item['call_id'] !== 'string';
    if (CALLS.has(type) && !isSearch) calls.set(id, { path, type });
    if (OUTPUTS.has(type) && !isSearch) {
      const call = calls.get(id);
      calls.delete(id);
      if (call === undefined) {
        if (!isStored) problems.push(`${path}: an output without its call (${id})`);
      } else if (outputOf(call.type) !== type)
        problems.push(`${path}: an output of another kind than its call (${id})`);
    }
    if (type === 'reasoning' && !isModels(items[i + 1] as JsonObject | undefined))
      problems.push(`${path}: reasoning without the item that it led to`);
  });
  for (const [id, { path }] of calls) problems.push(`${path}: a call without its output (${id})`);
  return problems;
}

const CALLS = new Set([
  'function_call',
  'custom_tool_call',
  'shell_call',
  'local_shell_call',
  'apply_patch_call',
  'computer_call',
  'program',
  'tool_search_call',
]);
const OUTPUTS = new Set([...CALLS].map(outputOf));

function outputOf(type: string): string {
  return type === 'tool_search_call' ? 'tool_search_output' : `${type}_output`;
}

function typeOf({ type, role }: JsonObject): string {
  return typeof type === 'string' ? type : role === undefined ? 'item_reference' : 'message';
}

/** True for an item that a model made. */
function isModels(item: JsonObject | undefined): boolean {
  if (item === undefined) return false;
  const type = typeOf(item);
  return type === 'message' ? item['role'] === 'assistant' : !type.endsWith('_output');
}
