/** What an error says, for a warning of one line. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
