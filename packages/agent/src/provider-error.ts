/** How providers say that a prompt is too long. */
const TOO_LONG =
  /context.?(?:length|window|limit|size)|(?:prompt|input) is too long|too many (?:input )?tokens|maximum.{0,20}tokens|request_too_large|exceeds? the (?:model|available)/i;

/** What a provider said when it refused a prompt as too long; undefined for any other error. */
export async function overflowOf(error: unknown): Promise<string | undefined> {
  const { APICallError } = await import('ai');
  // After repeated tries the SDK wraps the last error.
  const last = (error as { lastError?: unknown } | undefined)?.lastError ?? error;
  if (!APICallError.isInstance(last)) return undefined;
  const { statusCode, message, responseBody = '' } = last;
  const isRefusal = statusCode === undefined || statusCode === 400 || statusCode === 413;
  return isRefusal && TOO_LONG.test(`${message}\n${responseBody.slice(0, 2_000)}`)
    ? message
    : undefined;
}

const LONGEST = 500;

/** An error in one line for a person. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const status = (error as { statusCode?: number } | undefined)?.statusCode;
  const line = message.replace(/\s+/g, ' ').slice(0, LONGEST);
  return status === undefined ? line : `HTTP ${status}: ${line}`;
}

/**
 * By how much a prompt was too long, from the two figures that providers name: what was sent and what is allowed.
 * Undefined where the message names none.
 */
export function overflowShare(reason: string): number | undefined {
  const figures = (reason.match(/\d[\d,_]{2,}/g) ?? []).map((text) =>
    Number(text.replace(/[,_]/g, '')),
  );
  const sent = Math.max(...figures);
  const allowed = Math.min(...figures.filter((figure) => figure >= 500));
  return figures.length >= 2 && allowed < sent && allowed > 0 ? allowed / sent : undefined;
}
