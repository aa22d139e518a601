import { errorText, oneLine } from '@bobbin/core/internal';
const LONGEST = 500;

/** What an SDK may say of an error in addition to its message. */
interface ErrorFields {
  readonly statusCode?: number;
  readonly responseBody?: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly isRetryable?: boolean;
  /** The errors of the attempts, if there were several. */
  readonly errors?: readonly unknown[];
  readonly lastError?: unknown;
}

/** An error in one line for a person. */
export function reasonOf(error: unknown): string {
  const { statusCode, responseBody = '', errors = [], lastError } = (error ?? {}) as ErrorFields;
  if (lastError !== undefined) return `${reasonOf(lastError)} (asked ${errors.length} times)`;
  const message = errorText(error);
  if (UNFINISHED.test(message)) return NO_ANSWER;
  if (statusCode === undefined) return oneLine(message, LONGEST);
  // Some endpoints say what is wrong in their own form, of which the SDK gives only the status.
  const body = /^\s*[{[]/.test(responseBody) && !responseBody.includes(message) ? responseBody : '';
  return `HTTP ${statusCode}: ${oneLine(`${message} ${body}`, LONGEST)}`;
}

/** How long to wait before the next attempt, doubled each time, if the provider does not say it. */
export const DELAY_MS = 1_000;
/** The agent does not wait longer for an answer, even if a provider asks for it. */
const LONGEST_DELAY_MS = 60_000;

/** How long to wait before the same is asked again; undefined if that would not help. */
export function retryDelay(error: unknown, attempt: number): number | undefined {
  const { isRetryable, responseHeaders = {} } = (error ?? {}) as ErrorFields;
  if (isRetryable !== true) return undefined;
  const { 'retry-after-ms': ms, 'retry-after': seconds } = responseHeaders;
  const asked = ms === undefined ? Number(seconds) * 1_000 : Number(ms);
  const delayMs = asked >= 0 ? asked : DELAY_MS * 2 ** (attempt - 1);
  return delayMs > LONGEST_DELAY_MS ? undefined : delayMs;
}

/** Whether the provider itself answered with an error. */
export function isRefusal(error: unknown): boolean {
  return ((error ?? {}) as ErrorFields).statusCode !== undefined;
}

const UNFINISHED = /stream ended without a finish/;
const NO_ANSWER =
  'what came back is no whole answer of a model: either the connection broke, or the address is not that of a provider';
