import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { named, Pairs } from './pairs.ts';

/** A request to the Converse API, as far as its rules are about it. */
export interface BedrockRequest {
  readonly messages: readonly object[];
  readonly system?: unknown;
  readonly toolConfig?: unknown;
  readonly additionalModelRequestFields?: unknown;
}

const MOST_CACHE_POINTS = 4;

/**
 * What the Converse API would refuse of a request, one located line each: roles that do not take turns, blocks that are
 * empty or not of one kind, calls that the next message does not answer, more than four cache points, and a running tool
 * loop without the thinking of its last answer.
 */
export function bedrockProblems(request: BedrockRequest): readonly string[] {
  const messages = request.messages as readonly JsonObject[];
  const points = cachePoints(request);
  return [
    ...(messages.length === 0 ? ['messages: must not be empty'] : []),
    ...(points > MOST_CACHE_POINTS ? [`${points} cache points, at most ${MOST_CACHE_POINTS}`] : []),
    ...messages.flatMap((message, i) => messageProblems(messages, message, i)),
    ...pairProblems(messages),
    ...loopThinkingProblems(request),
  ];
}

function messageProblems(
  messages: readonly JsonObject[],
  message: JsonObject,
  i: number,
): readonly string[] {
  const path = `messages[${i}]`;
  const { role } = message;
  if (role === 'system') return [];
  if (role !== 'user' && role !== 'assistant') return [`${path}.role: there is no such role`];
  if (i === 0 && role !== 'user') return [`${path}: a conversation must start with a user message`];
  if (i > 0 && messages[i - 1]?.['role'] === role)
    return [`${path}: a conversation must alternate between user and assistant roles`];
  const blocks = blocksOf(message);
  if (blocks.length === 0) return [`${path}.content: must not be empty`];
  return blocks.flatMap((block, j) => blockProblems(`${path}.content[${j}]`, block, role));
}

function blockProblems(path: string, block: JsonObject, role: string): readonly string[] {
  const kinds = Object.keys(block).filter((name) => block[name] !== undefined);
  if (kinds.length !== 1) return [`${path}: must have one kind, has ${kinds.join(', ')}`];
  const { text, toolUse, toolResult, reasoningContent } = block;
  if (typeof text === 'string' && text.trim() === '') return [`${path}.text: must not be blank`];
  if (role === 'user' && (toolUse ?? reasoningContent) !== undefined)
    return [`${path}: only the assistant has ${kinds[0]}`];
  const isHosts = isJsonObject(toolResult) && toolResult['type'] === undefined;
  return role === 'assistant' && isHosts ? [`${path}: only the user gives results`] : [];
}

function pairProblems(messages: readonly JsonObject[]): readonly string[] {
  const pairs = new Pairs();
  messages.forEach((message, i) => {
    if (message['role'] === 'assistant') pairs.close();
    blocksOf(message).forEach(({ toolUse, toolResult }, j) => {
      const path = `messages[${i}].content[${j}]`;
      if (isJsonObject(toolUse)) pairs.call(path, toolUse['toolUseId']);
      if (isJsonObject(toolResult)) pairs.result(path, toolResult['toolUseId']);
    });
    if (message['role'] === 'user') pairs.close();
  });
  pairs.close();
  return pairs.problems;
}

/** With thinking enabled, the answer whose tools have just run must begin with what the model thought. */
function loopThinkingProblems(request: BedrockRequest): readonly string[] {
  const fields = request.additionalModelRequestFields;
  const thinking = isJsonObject(fields) ? fields['thinking'] : undefined;
  const at = request.messages.length - 2;
  const [answer, results] = request.messages.slice(-2) as readonly JsonObject[];
  if (!isJsonObject(thinking) || thinking['type'] !== 'enabled') return [];
  if (answer === undefined || results === undefined || answer['role'] !== 'assistant') return [];
  const isRunning = blocksOf(results).some(({ toolResult }) => toolResult !== undefined);
  const [first = {}] = blocksOf(answer);
  if (!isRunning || first['reasoningContent'] !== undefined) return [];
  const found = `found ${named(Object.keys(first)[0])}`;
  return [
    `messages[${at}].content[0]: a final assistant message must start with a thinking block, ${found}`,
  ];
}

/** Counts the cache points of tools, system and messages. */
function cachePoints({ messages, system, toolConfig }: BedrockRequest): number {
  const tools = isJsonObject(toolConfig) ? toolConfig['tools'] : undefined;
  const lists = [tools, system, ...messages.map((message) => (message as JsonObject)['content'])];
  return lists
    .flatMap((list) => (Array.isArray(list) ? (list as readonly unknown[]) : []))
    .filter((block) => isJsonObject(block) && block['cachePoint'] !== undefined).length;
}

function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}
