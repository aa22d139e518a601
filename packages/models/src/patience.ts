/** How long, and how often, a model is asked for one summary. */
export interface Patience {
  /** For the whole summary, repeated calls and waits included; the caller's own signal ends it if absent. */
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}
