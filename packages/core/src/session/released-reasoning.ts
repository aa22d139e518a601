import type { EventDetail } from '../events.ts';
import type { Store, ThreadKey } from '../ports.ts';
import type { PromptBuilder } from '../render/builder.ts';
import { messagesIn } from './state/reminding.ts';
import { changedFrom, isSignedFrom, type Sent } from './state/sent.ts';
import type { SessionState } from './state/state.ts';

const REMINDERS: ReadonlySet<EventDetail['kind']> = new Set(['rehydrated', 'retrieved']);

/** What an earlier process sent had no reminders if it recorded none. */
export async function sentEarlier(store: Store, key: ThreadKey): Promise<Sent> {
  const events = await store.events(key).catch(() => undefined);
  const wasReminded = events?.some(({ event }) => REMINDERS.has(event.kind)) ?? true;
  return { kind: wasReminded ? 'elsewhere' : 'nothing' };
}

/** The index from which reasoning no longer holds although the plan shows it; undefined if there is none. */
export function releasedFrom(state: SessionState, built: PromptBuilder): number | undefined {
  const from = changedFrom(state, messagesIn(state, built));
  return from !== undefined && isSignedFrom(state, from) ? from : undefined;
}
