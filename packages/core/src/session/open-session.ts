import type { MessageId } from '../message/message.ts';
import type { SessionConfig } from './config/session-config.ts';
import { keyNamed } from './memory/stored-thread.ts';
import { Session } from './session.ts';

/** Opens the thread of a name, resumed from the store at its newest message or at an older one. */
export async function openSession<Wire>(
  config: SessionConfig<Wire>,
  tenant: string,
  id: string,
  head?: MessageId,
): Promise<Session<Wire>> {
  const key = keyNamed(tenant, id);
  const window = await config.store.window(key, head);
  if (head !== undefined && window === undefined)
    throw new RangeError(`thread ${id} has no message ${head}`);
  const plan = window?.current?.plan;
  if (window === undefined || plan === undefined || window.tail.length > 0)
    return new Session(key, config, window);
  // The plan shows nothing after its start, but the head is needed to append.
  const last = head ?? (await config.store.heads(key))[0];
  const tail = last === undefined ? [] : await config.store.path(key, last, plan.start - 1);
  return new Session(key, config, { ...window, tail });
}
