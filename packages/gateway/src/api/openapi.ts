import type { JsonObject } from '@bobbin/core/internal';
import type { Parameter, Route } from './route.ts';

/** The version of the API, which is in its paths: it changes when a caller would have to. */
export const API_BASE = '/bobbin/v1';

/** What the API is, for tools that read OpenAPI. */
export function openApi(routes: readonly Route[]): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes)
    (paths[`${API_BASE}${route.path}`] ??= {})[route.method] = operation(route);
  return {
    openapi: '3.1.0',
    info: { title: 'Bobbin gateway', version: '1', license: { name: 'MIT' } },
    security: [{ token: [] }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { token: { type: 'apiKey', in: 'header', name: 'x-bobbin-token' } },
    },
  };
}

function operation({ name, about, path, query = {}, body, reply }: Route): JsonObject {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter = '']) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([parameter, { type, about: description }]) => ({
    name: parameter,
    in: 'query',
    description,
    schema: { type },
  }));
  const failed = { description: 'Why not', content: contentOf('Problem') };
  return {
    operationId: name,
    summary: about,
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { [JSON_TYPE]: { schema: fields(body) } } } }),
    responses: {
      '200': { description: 'Done', content: contentOf(reply) },
      '4XX': failed,
    },
  };
}

const JSON_TYPE = 'application/json';

function contentOf(reply: string): JsonObject {
  return reply.includes('/')
    ? { [reply]: { schema: { type: 'string' } } }
    : { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${reply}` } } };
}

function fields(body: Readonly<Record<string, Parameter>>): JsonObject {
  const entries = Object.entries(body);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, { type, about }]) => [name, { type, description: about }]),
    ),
    required: entries.filter(([, { required }]) => required === true).map(([name]) => name),
  };
}

const text: JsonObject = { type: 'string' };
const number: JsonObject = { type: 'number' };
const bool: JsonObject = { type: 'boolean' };
const anything: JsonObject = { type: 'object' };

function object(
  properties: Readonly<Record<string, JsonObject>>,
  ...optional: readonly string[]
): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

function list(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

function schema(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

const SCHEMAS: JsonObject = {
  Problem: object({ error: object({ message: text }) }),
  Done: object({ done: bool }),
  Names: list(text),
  Usage: object({
    inputTokens: number,
    outputTokens: number,
    cacheReadTokens: number,
    cacheWriteTokens: number,
  }),
  LedgerSum: object({
    requests: number,
    toolRounds: number,
    compactions: number,
    usage: schema('Usage'),
    paidTokens: number,
    fullTokens: number,
    summaryTokens: number,
    savedTokens: number,
  }),
  LedgerEntries: list(
    object(
      {
        id: text,
        tenant: text,
        thread: text,
        name: text,
        head: text,
        at: number,
        model: text,
        protocol: text,
        action: text,
        tokensBefore: number,
        tokensAfter: number,
        isToolRound: bool,
        status: number,
        usage: schema('Usage'),
        paidTokens: number,
        fullTokens: number,
        answer: text,
      },
      'thread',
      'name',
      'head',
      'isToolRound',
      'status',
      'usage',
      'paidTokens',
      'fullTokens',
      'answer',
    ),
  ),
  Threads: list(
    object({ thread: text, head: text, length: number, version: number, changedAt: number }),
  ),
  Thread: object({
    tenant: text,
    thread: text,
    head: text,
    heads: list(text),
    length: number,
    version: number,
    pressure: number,
    cost: schema('LedgerSum'),
  }),
  Nodes: list(
    object({
      id: text,
      parent: { type: ['string', 'null'] },
      index: number,
      turn: number,
      message: anything,
    }),
  ),
  Events: list(object({ sequence: number, version: number, event: anything })),
  Plan: object({ version: number, plan: anything }),
  Prompt: object({ messages: list(anything), tokens: number, cachePoints: list(number) }),
  Compacted: object({ version: number, compacted: bool, fits: bool, tokens: number }),
};
