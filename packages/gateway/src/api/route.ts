import type { JsonObject } from '@bobbin/core/internal';

/** What a route is called with. */
export interface Call {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: JsonObject;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

export type Reply =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly mediaType: string }
  | { readonly kind: 'events'; readonly events: AsyncIterable<ApiEvent> };

export interface ApiEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

/** A parameter or field of a call, as the description shows it. */
export interface Parameter {
  readonly type: 'string' | 'integer';
  readonly about: string;
  readonly required?: true;
}

/** One route of the API: what it is called, what it takes and what it does. */
export interface Route {
  readonly method: 'get' | 'post';
  /** As in `/threads/{thread}`; its parameters are texts. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly body?: Readonly<Record<string, Parameter>>;
  /** The schema of the reply among the components, or a kind that is not JSON. */
  readonly reply: string;
  answer(call: Call): Promise<Reply>;
}

/** A call that cannot be answered, with the status that says why. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: 400 | 404 | 409;

  constructor(status: 400 | 404 | 409, message: string) {
    super(message);
    this.status = status;
  }
}

export function json(value: unknown): Reply {
  return { kind: 'json', value };
}

/** The whole number that a query has under a name. */
export function wholeNumber(
  query: Call['query'],
  name: string,
  most: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const given = query[name];
  if (given === undefined) return undefined;
  if (/^\d{1,16}$/.test(given) && Number(given) <= most) return Number(given);
  throw new ApiError(400, `${name}: must be a whole number of at most ${most}, not ${given}`);
}

/** The text that a body must have under a name. */
export function neededText(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new ApiError(400, `${name}: must be a text that is not empty`);
}
