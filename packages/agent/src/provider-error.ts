const LONGEST = 500;

/** An error in one line for a person. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const status = (error as { statusCode?: number } | undefined)?.statusCode;
  const line = message.replaceAll(/\s+/g, ' ').slice(0, LONGEST);
  return status === undefined ? line : `HTTP ${status}: ${line}`;
}
