import { isJsonObject } from '@bobbin/core/internal';
import {
  turnsOf,
  type AnthropicRequest,
  type AnthropicTurn,
  type PlacedBlock,
} from './anthropic-turn.ts';
import { isKeptByProvider } from '../wire/kept-by-provider.ts';
import { named, Pairs } from './pairs.ts';
import { thinkingProblems } from './thinking.ts';

const MOST_MARKERS = 4;

/**
 * What the Messages API would refuse of a request, one located line each: order of roles, pairs, results before words,
 * empty blocks, more than four cache markers, a running tool loop without its thinking, thinking that was not signed for
 * this place.
 */
export function anthropicProblems(request: AnthropicRequest): readonly string[] {
  const turns = turnsOf(request);
  const markers = countMarkers([request.tools, request.system, request.messages]);
  return [
    ...(turns.length === 0 ? ['messages: must not be empty'] : []),
    ...(markers > MOST_MARKERS ? [`${markers} cache markers, at most ${MOST_MARKERS}`] : []),
    ...orderProblems(turns),
    ...pairProblems(turns, isKeptByProvider(request) ? turns[0] : undefined),
    ...serverPairProblems(turns),
    ...turns.flatMap((turn) => turn.blocks.flatMap((placed) => blockProblems(turn, placed))),
    ...loopThinkingProblems(request, turns),
    ...thinkingProblems(request),
  ];
}

function orderProblems(turns: readonly AnthropicTurn[]): readonly string[] {
  return turns.flatMap(({ role, path, blocks }, i) => {
    if (blocks.length === 0) return [`${path}.content: must not be empty`];
    if (i === 0 && role !== 'user' && blocks[0]?.block['type'] !== 'compaction')
      return [`${path}.role: the first message must be the user's`];
    if (role === 'user' || role === 'assistant') return [];
    if (role !== 'system') return [`${path}.role: there is no such role`];
    const isValid =
      turns[i - 1]?.role === 'user' && (turns[i + 1]?.role ?? 'assistant') === 'assistant';
    return isValid ? [] : [`${path}.role: system must be between the user and the assistant`];
  });
}

/** `answering` is a turn whose results answer calls that only the provider has. */
function pairProblems(
  turns: readonly AnthropicTurn[],
  answering: AnthropicTurn | undefined,
): readonly string[] {
  const pairs = new Pairs();
  const problems: string[] = [];
  const used = new Set<unknown>();
  for (const turn of turns) {
    if (turn.role === 'assistant') pairs.close();
    let hasWords = false;
    for (const { path, block } of turn.blocks) {
      const { type, id, tool_use_id: answered } = block;
      if (type === 'tool_use') {
        if (used.has(id)) problems.push(`${path}.id: tool_use ids must be unique`);
        used.add(id);
        pairs.call(path, id);
      } else if (type === 'tool_result') {
        if (hasWords) problems.push(`${path}: tool results must come before anything else`);
        if (turn !== answering) pairs.result(path, answered);
      } else hasWords = true;
    }
    if (turn.role === 'user') pairs.close();
  }
  pairs.close();
  return [...problems, ...pairs.problems];
}

const SERVER_CALL = /^(?:server|mcp)_tool_use$/;
const SERVER_RESULT = /._tool_result$/;

/**
 * Tools that Anthropic runs: each result has its call before it, and each call its result before the user speaks or an
 * answer calls no tool of the host's. A call at the end may still run.
 */
function serverPairProblems(turns: readonly AnthropicTurn[]): readonly string[] {
  const open = new Map<string, string>();
  const called = new Set<unknown>();
  const problems: string[] = [];
  for (const turn of turns) {
    const earlier = [...open.keys()];
    for (const { path, block } of turn.blocks) {
      const { type, id, tool_use_id: answered, caller } = block;
      const code = isJsonObject(caller) ? caller['tool_id'] : undefined;
      if (SERVER_CALL.test(named(type))) {
        called.add(id);
        open.set(named(id), path);
      } else if (SERVER_RESULT.test(named(type))) {
        if (!open.delete(named(answered)))
          problems.push(`${path}: a result without its call (${named(answered)})`);
      } else if (code !== undefined && !called.has(code))
        problems.push(`${path}.caller: there is no server_tool_use ${named(code)}`);
    }
    if (goesOn(turn)) continue;
    for (const id of earlier.filter((each) => open.has(each)))
      problems.push(`${open.get(id)}: a call without its result (${id})`);
    for (const id of earlier) open.delete(id);
  }
  return problems;
}

/** True if code of Anthropic's may still run: the host's tools are called, or give their results and nothing else. */
function goesOn({ role, blocks }: AnthropicTurn): boolean {
  const types = blocks.map(({ block }) => block['type']);
  if (role === 'assistant') return types.includes('tool_use');
  return role === 'system' || types.every((type) => type === 'tool_result');
}

/** With thinking enabled, the answer whose tools have just run must begin with what the model thought. */
function loopThinkingProblems(
  { thinking }: AnthropicRequest,
  turns: readonly AnthropicTurn[],
): readonly string[] {
  const [answer, results] = turns.slice(-2);
  const isEnabled = isJsonObject(thinking) && thinking['type'] === 'enabled';
  const isRunning = results?.blocks.some(({ block }) => block['type'] === 'tool_result') === true;
  if (!isEnabled || !isRunning || answer?.role !== 'assistant') return [];
  const [first] = answer.blocks;
  if (first === undefined || THINKING.has(first.block['type'])) return [];
  const found = `found ${named(first.block['type'])}`;
  return [`${first.path}: a final assistant message must start with a thinking block, ${found}`];
}

const THINKING = new Set<unknown>(['thinking', 'redacted_thinking']);

const ASSISTANT_ONLY = /^(?:thinking|redacted_thinking|(?:server_|mcp_)?tool_use)$/;

function blockProblems({ role }: AnthropicTurn, { path, block }: PlacedBlock): readonly string[] {
  const { type, text, signature, input } = block;
  if (type === 'text' && (typeof text !== 'string' || text.trim() === ''))
    return [`${path}.text: must not be empty`];
  if (type === 'thinking' && typeof signature !== 'string')
    return [`${path}.signature: must be given`];
  if (type === 'compaction' && typeof signature === 'string' && path !== 'messages[0].content[0]')
    return [`${path}: a signed compaction must be first in messages`];
  if (type === 'tool_use' && !isJsonObject(input)) return [`${path}.input: must be an object`];
  if (type === 'tool_result' && role !== 'user') return [`${path}: only the user gives results`];
  return ASSISTANT_ONLY.test(named(type)) && role !== 'assistant'
    ? [`${path}: only the assistant has ${named(type)}`]
    : [];
}

/** Counts cache markers at every place that may hold one. */
function countMarkers(values: readonly unknown[]): number {
  const rest = [...values];
  let markers = 0;
  while (rest.length > 0) {
    const value = rest.pop();
    if (Array.isArray(value)) for (const item of value as readonly unknown[]) rest.push(item);
    else if (isJsonObject(value)) {
      markers += isJsonObject(value['cache_control']) ? 1 : 0;
      rest.push(value['content']);
    }
  }
  return markers;
}
