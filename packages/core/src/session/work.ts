import { withoutSecrets } from '../compact/compaction-log.ts';
import type { CompactionEvent, EventDetail } from '../events.ts';
import { messageLimit } from '../tokens/budget.ts';
import type { CompactionHooks } from './config/session-config.ts';
import type { SessionState } from './state/state.ts';

/** Something that happened to a prompt of this size, without secrets. */
export function sessionEvent(
  { key, config }: SessionState,
  tokens: number,
  detail: EventDetail,
): CompactionEvent {
  const { clock, budget, redact } = config;
  return {
    thread: key.thread,
    time: clock.now(),
    tokensBefore: tokens,
    tokensAfter: tokens,
    limitTokens: messageLimit(budget),
    ...withoutSecrets(detail, redact),
  };
}

/** Calls a hook of the host. A hook that fails does not stop the session. */
export function callHook(hooks: CompactionHooks, call: (hooks: CompactionHooks) => unknown): void {
  try {
    Promise.resolve(call(hooks)).catch(() => undefined);
  } catch {
    // A hook that fails has failed for its host only.
  }
}
