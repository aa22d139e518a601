import { proseSummary, type Summary, type SummaryRequest } from '@bobbin/core';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';

const text = { type: 'string' } as const;
const maybe = { type: ['string', 'null'] } as const;
const turn = { type: 'integer' } as const;
const flag = { type: 'boolean' } as const;
const oneOf = (...values: readonly string[]): JsonObject => ({ type: 'string', enum: [...values] });
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const record = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/**
 * What a model is asked for: C6's structure as JSON Schema, every field required and nothing else allowed, as strict
 * structured output wants it. Round, turns, artifacts and notes are not asked for: they are known.
 */
export const ANSWER_SCHEMA: JsonObject = record({
  account: text,
  facts: list(
    record({
      kind: oneOf('constraint', 'preference', 'value'),
      text,
      by: oneOf('system', 'user', 'assistant', 'tool'),
      turn,
    }),
  ),
  decisions: list(record({ text, rationale: maybe, turn })),
  items: list(
    record({
      text,
      state: oneOf('open', 'current', 'done'),
      priority: oneOf('high', 'medium', 'low'),
      context: maybe,
    }),
  ),
  outcomes: list(
    record({
      tool: text,
      call: text,
      outcome: oneOf('success', 'failure', 'partial'),
      error: maybe,
      resolution: maybe,
      turn,
    }),
  ),
  files: list(
    record({ path: text, read: flag, written: flag, edited: flag, deleted: flag, note: maybe }),
  ),
  currentTask: maybe,
  currentPlan: list(text),
});

export type Decoded =
  | { readonly kind: 'summary'; readonly summary: Summary }
  | { readonly kind: 'problem'; readonly problem: string };

/** The answer of a model as a summary, or what is wrong with it and where. Text around the JSON object is left out. */
export function decodeAnswer(answer: string, request: SummaryRequest): Decoded {
  const start = answer.indexOf('{');
  const end = answer.lastIndexOf('}');
  const value = start < 0 || end < start ? undefined : parseJson(answer.slice(start, end + 1));
  if (!isJsonObject(value)) return { kind: 'problem', problem: 'the answer is no JSON object' };
  const problem = mismatch(value, ANSWER_SCHEMA, 'answer');
  if (problem !== undefined) return { kind: 'problem', problem };
  const { account, currentTask = null, ...fields } = withoutNulls(value) as Answer;
  const { prose, ...summary } = proseSummary(account, request);
  return {
    kind: 'summary',
    summary: { ...summary, ...fields, currentTask, prose: prose === '' ? null : prose },
  };
}

/** What the schema admits, nulls left out. */
interface Answer extends Pick<
  Summary,
  'facts' | 'decisions' | 'items' | 'outcomes' | 'files' | 'currentPlan'
> {
  readonly account: string;
  readonly currentTask?: string;
}

/** In the answer an absent field is null, in a summary it is left out. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) =>
      field === null ? [] : [[key, withoutNulls(field)]],
    ),
  );
}

/** Where and how a value departs from a schema of the few forms used above. */
function mismatch(value: unknown, schema: JsonObject, at: string): string | undefined {
  const types = [schema['type']].flat() as readonly string[];
  if (!types.some((type) => isOf(value, type))) return `${at} must be ${types.join(' or ')}`;
  const options = schema['enum'] as readonly string[] | undefined;
  if (options !== undefined && !options.includes(value as string))
    return `${at} must be one of ${options.join(', ')}`;
  if (Array.isArray(value)) {
    const items = schema['items'] as JsonObject;
    return firstOf(value.map((item, i) => () => mismatch(item, items, `${at}[${i}]`)));
  }
  if (!isJsonObject(value)) return undefined;
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
  const strange = Object.keys(value).find((key) => !Object.hasOwn(properties, key));
  if (strange !== undefined) return `${at}.${strange} is not asked for`;
  return firstOf(
    Object.entries(properties).map(
      ([key, inner]) =>
        () =>
          mismatch(value[key], inner, `${at}.${key}`),
    ),
  );
}

function isOf(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isJsonObject(value);
    default:
      return typeof value === type;
  }
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}
