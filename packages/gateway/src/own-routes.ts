import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { streamSSE } from 'hono/streaming';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';
import { API_BASE, openApi } from './api/openapi.ts';
import { ApiError, type ApiEvent, type Call, type Reply, type Route } from './api/route.ts';
import type { Access } from './http/access.ts';
import type { Observer } from './observe/observer.ts';

export interface OwnRoutesOptions {
  readonly observer: Observer;
  readonly access: Access;
  readonly routes: readonly Route[];
  /** The longest body of a call. */
  readonly bodyBytes: number;
}

/** Paths that the gateway answers itself. */
export function isOwnPath(url: string): boolean {
  return /^\/(?:healthz$|healthz\?|metrics$|metrics\?|bobbin\/)/.test(url);
}

/** The gateway's own pages: health, metrics and the API. */
export function ownRoutes({ observer, access, routes, bodyBytes }: OwnRoutesOptions): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok', gateway: 'bobbin' }));
  app.use('*', async (c: Context, next) => {
    const refusal = refusalOf(c, access);
    return refusal === undefined ? next() : problem(c, ...refusal);
  });
  const onError = (c: Context): Response =>
    problem(c, 413, `the body has more than ${bodyBytes} bytes`);
  app.use('*', bodyLimit({ maxSize: bodyBytes, onError }));
  app.get('/metrics', async (c) => {
    const { registry } = observer.metrics;
    return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType });
  });
  app.get('/bobbin/openapi.json', (c) => c.json(openApi(routes) as object));
  for (const route of routes)
    app.on(route.method, API_BASE + route.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) =>
      answered(c, route, observer),
    );
  app.notFound((c) => problem(c, 404, `there is no ${c.req.path}; see /bobbin/openapi.json`));
  return app;
}

const NEEDS_TOKEN = 'send a token in the header x-bobbin-token';

type Status = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 421 | 500;

function problem(c: Context, status: Status, message: string): Response {
  return c.json({ error: { message } }, status);
}

/**
 * Why a call is not answered. A page of another site must not act for its visitor: neither by a form, nor by a script,
 * nor by a name of its own that it lets point here.
 */
function refusalOf(c: Context, access: Access): readonly [Status, string] | undefined {
  const header = (name: string): string | undefined => c.req.header(name);
  if (!access.isOwnHost(header('host'))) return [421, 'this name does not lead to the gateway'];
  const token = header('x-bobbin-token') ?? header('authorization')?.replace(/^Bearer /, '');
  const refusal = access.apiRefusal(token);
  // What is measured says nothing of what was said: a client may read it.
  if (refusal !== undefined && c.req.path !== '/metrics') return refusal;
  if (refusal !== undefined && !access.hasToken(token)) return [401, NEEDS_TOKEN];
  const site = header('sec-fetch-site') ?? 'none';
  if (site === 'cross-site' || site === 'same-site')
    return [403, 'pages of other sites may not use the gateway'];
  const origin = header('origin');
  if (
    origin !== undefined &&
    origin !== `http://${header('host')}` &&
    origin !== `https://${header('host')}`
  )
    return [403, `pages of ${origin} may not use the gateway`];
  const isJson = header('content-type')?.startsWith('application/json') === true;
  if (c.req.method !== 'GET' && !isJson) return [415, 'send JSON (content-type: application/json)'];
  return undefined;
}

async function answered(c: Context, route: Route, observer: Observer): Promise<Response> {
  try {
    const body = route.method === 'get' ? {} : bodyOf(await c.req.text());
    const call: Call = {
      path: c.req.param(),
      query: c.req.query(),
      body,
      signal: c.req.raw.signal,
    };
    return await replied(c, await route.answer(call));
  } catch (error) {
    if (error instanceof ApiError) return problem(c, error.status, error.message);
    // A name or an id that no thread can have.
    if (error instanceof RangeError) return problem(c, 404, error.message);
    observer.log.error({ reason: String(error), route: route.name }, 'api');
    return problem(c, 500, 'it failed; the log of the gateway says why');
  }
}

function bodyOf(text: string): JsonObject {
  const body = text === '' ? {} : parseJson(text);
  if (isJsonObject(body)) return body;
  throw new ApiError(400, 'the body must be a JSON object');
}

async function replied(c: Context, reply: Reply): Promise<Response> {
  switch (reply.kind) {
    case 'json':
      return c.json(reply.value as object);
    case 'bytes':
      // It is what some tool returned: no browser may take it for a page of the gateway's.
      return c.body(new Uint8Array(reply.bytes), 200, {
        'content-type': reply.mediaType,
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
      });
    case 'events':
      return streamed(c, reply.events);
  }
}

function streamed(c: Context, events: AsyncIterable<ApiEvent>): Response {
  return streamSSE(c, async (stream) => {
    const iterator = events[Symbol.asyncIterator]();
    stream.onAbort(() => void iterator.return?.());
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      if (stream.aborted) break;
      const { id, event, data } = next.value;
      await stream.writeSSE({
        event,
        data: JSON.stringify(data),
        ...(id === undefined ? {} : { id }),
      });
    }
  });
}
