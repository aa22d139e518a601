import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { named, Pairs } from './pairs.ts';

/**
 * What `generateContent` would refuse of a list of contents, one located line each: roles, empty contents, calls that
 * the next content does not answer, calls that follow neither the user nor a response, and calls of the running turn
 * without the thought signature that came with them.
 */
export function geminiProblems(contents: readonly object[]): readonly string[] {
  const list = contents as readonly JsonObject[];
  return [
    ...(list.length === 0 ? ['contents: must not be empty'] : []),
    ...list.flatMap((content, i) => contentProblems(list, content, i)),
    ...pairProblems(list),
    ...signatureProblems(list),
  ];
}

const ROLES = new Set<unknown>(['user', 'model', 'function', undefined]);

function contentProblems(
  list: readonly JsonObject[],
  content: JsonObject,
  i: number,
): readonly string[] {
  const path = `contents[${i}]`;
  const { role } = content;
  if (!ROLES.has(role)) return [`${path}.role: there is no such role`];
  const parts = partsOf(content);
  if (parts.length === 0) return [`${path}.parts: must not be empty`];
  const isCall = parts.some(({ functionCall }) => functionCall !== undefined);
  if (isCall && role !== 'model') return [`${path}: only the model calls functions`];
  if (isCall && (i === 0 || list[i - 1]?.['role'] === 'model'))
    return [`${path}: a function call must come after the user or a function response`];
  const isResponse = parts.some(({ functionResponse }) => functionResponse !== undefined);
  return isResponse && role === 'model' ? [`${path}: only the user gives responses`] : [];
}

function pairProblems(list: readonly JsonObject[]): readonly string[] {
  const pairs = new Pairs();
  list.forEach((content, i) => {
    const ids = new Ids();
    if (content['role'] === 'model') pairs.close();
    partsOf(content).forEach(({ functionCall, functionResponse }, j) => {
      const path = `contents[${i}].parts[${j}]`;
      if (isJsonObject(functionCall)) pairs.call(path, ids.of(functionCall));
      if (isJsonObject(functionResponse)) pairs.result(path, ids.of(functionResponse));
    });
    if (content['role'] !== 'model') pairs.close();
  });
  pairs.close();
  return pairs.problems;
}

/** A call without an id is answered by its name, in the order of the calls. */
class Ids {
  readonly #seen = new Map<string, number>();

  of({ id, name }: JsonObject): string {
    if (id !== undefined) return named(id);
    const own = named(name);
    const count = (this.#seen.get(own) ?? 0) + 1;
    this.#seen.set(own, count);
    return `${own} ${count}`;
  }
}

/** A model that signs its calls wants the signatures of the running turn back: on the first call of each content. */
function signatureProblems(list: readonly JsonObject[]): readonly string[] {
  const isSigned = list.some((content) =>
    partsOf(content).some(({ thoughtSignature }) => thoughtSignature !== undefined),
  );
  if (!isSigned) return [];
  let turn = 0;
  list.forEach((content, i) => {
    const isSaid = partsOf(content).some((part) => typeof part['text'] === 'string');
    if (content['role'] !== 'model' && isSaid) turn = i + 1;
  });
  return list.slice(turn).flatMap((content, i) => {
    const first = partsOf(content).find(({ functionCall }) => functionCall !== undefined);
    if (first === undefined || first['thoughtSignature'] !== undefined) return [];
    return [`contents[${turn + i}]: a function call is missing its thought_signature`];
  });
}

function partsOf({ parts }: JsonObject): readonly JsonObject[] {
  return Array.isArray(parts) ? (parts as readonly JsonObject[]) : [];
}
