import { createHash, type Hash } from 'node:crypto';
import { isJsonObject, jsonText, type JsonObject } from '@bobbin/core/internal';
import { objectsIn, textIn } from '../protocol/protocol.ts';
import { isOwnTool, type ToolShape } from './tool-shape.ts';

/** An answer of a model that called the gateway's tools, and what the gateway answered. */
export interface Round {
  readonly messages: readonly JsonObject[];
  /** Empty for the answer that ended the turn. */
  readonly results: readonly JsonObject[];
}

/** What the client's list is called up to each of its messages; a client may move its cache markers. */
export function listKeys(messages: readonly JsonObject[]): readonly string[] {
  const hash = createHash('sha256');
  return messages.map((message) => {
    addTo(hash, message);
    return hash.copy().digest('hex');
  });
}

function addTo(hash: Hash, message: JsonObject): void {
  const { content, cache_control: _, ...rest } = message;
  hash.update(jsonText(rest)).update('\0');
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [content];
  for (const part of parts) hash.update(partText(part)).update('\0');
}

/** A text says the same as a list of one text. */
function partText(part: JsonObject[string]): string {
  if (!isJsonObject(part)) return typeof part === 'string' ? part : jsonText(part ?? null);
  const { cache_control: _, ...rest } = part;
  return typeof rest['text'] === 'string' ? rest['text'] : jsonText(rest);
}

/** The rounds that a text of the ledger has. */
export function roundsIn(text: string): readonly Round[] {
  return JSON.parse(text) as readonly Round[];
}

/**
 * A client's list with the rounds that it has not seen. `roundsAfter` has those that follow some of its messages. An
 * answer that the client has changed since stays as it is.
 */
export function withHiddenRounds(
  shape: ToolShape,
  messages: readonly JsonObject[],
  roundsAfter: (index: number) => readonly (readonly Round[])[],
): readonly JsonObject[] {
  const whole: JsonObject[] = [];
  let results: readonly JsonObject[] = [];
  for (let at = 0; at < messages.length;) {
    const message = messages[at] as JsonObject;
    whole.push(...(results.length === 0 ? [message] : shape.withResults(results, [message])));
    results = [];
    const known = roundsAfter(at++);
    const shown = known.length === 0 ? [] : answerAt(shape, messages, at);
    const rounds = known.find((each) => isShown(shape, each, shown));
    if (rounds === undefined || shown.length === 0) continue;
    whole.push(...hiddenIn(rounds, shown));
    results = rounds.at(-1)?.results ?? [];
    at += shown.length;
  }
  return results.length === 0 ? whole : [...whole, ...shape.withResults(results, [])];
}

function answerAt(
  shape: ToolShape,
  messages: readonly JsonObject[],
  at: number,
): readonly JsonObject[] {
  const after = messages.slice(at);
  return after.slice(0, shape.answerLength(after));
}

/** The rounds of a turn up to its last results, in place of what the client sends for them. */
function hiddenIn(rounds: readonly Round[], shown: readonly JsonObject[]): readonly JsonObject[] {
  const [earlier, last] = [rounds.slice(0, -1), rounds.at(-1)];
  const before = earlier.flatMap(({ messages, results }) => [...messages, ...results]);
  // What the client has for an answer of nothing but hidden calls is empty, and providers refuse that.
  if (last?.messages.length === 0) return before;
  // Where the client saw nothing of the earlier rounds, its own form of the last one keeps its bytes.
  const isClients =
    last?.results.length === 0 && earlier.every(({ messages }) => messages.every(showsNothing));
  return [...before, ...(isClients ? shown : (last?.messages ?? []))];
}

/** True for a message of an earlier round that has nothing but calls, which are all the gateway's. */
function showsNothing({ type, content = null }: JsonObject): boolean {
  if (type === 'function_call') return true;
  if (Array.isArray(content))
    return objectsIn(content).every((part) => part['type'] === 'tool_use');
  return type === undefined && (content === null || content === '');
}

function isShown(
  shape: ToolShape,
  rounds: readonly Round[],
  shown: readonly JsonObject[],
): boolean {
  const messages = rounds.flatMap((round) => round.messages);
  return saidIn(shape, messages) === saidIn(shape, shown);
}

/** What a client sees of some messages: their text without spaces, and the calls that are its own. */
function saidIn(shape: ToolShape, messages: readonly JsonObject[]): string {
  const text = messages.map(({ content }) => textIn(content)).join('');
  const calls = shape.callsIn(messages).filter(({ name }) => !isOwnTool(name));
  return `${text.replaceAll(/\s+/g, '')}\n${calls.map(({ id }) => id).join('\n')}`;
}
