import { oneLine } from '@bobbin/core/internal';
const LONGEST = 500;

/** What an SDK may say of an error, beside its message. */
interface Told {
  readonly statusCode?: number;
  readonly responseBody?: string;
  /** Of the attempts, where there were several. */
  readonly errors?: readonly unknown[];
  readonly lastError?: unknown;
}

/** An error in one line for a person. */
export function reasonOf(error: unknown): string {
  const { statusCode, responseBody = '', errors = [], lastError } = (error ?? {}) as Told;
  if (lastError !== undefined) return `${reasonOf(lastError)} (asked ${errors.length} times)`;
  const message = error instanceof Error ? error.message : String(error);
  if (UNFINISHED.test(message)) return NO_ANSWER;
  if (statusCode === undefined) return oneLine(message, LONGEST);
  // Some endpoints say what is wrong in a form of their own, of which the SDK gives only the status.
  const body = /^\s*[{[]/.test(responseBody) && !responseBody.includes(message) ? responseBody : '';
  return `HTTP ${statusCode}: ${oneLine(`${message} ${body}`, LONGEST)}`;
}

const UNFINISHED = /stream ended without a finish/;
const NO_ANSWER =
  'what came back is no whole answer of a model: either the connection broke, or the address is not that of a provider';
