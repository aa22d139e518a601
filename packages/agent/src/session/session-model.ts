import type { Store } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { reasonOf } from '../model/provider-error.ts';

/** The model to go on with in a session: the one that answered last there, or in words why it is not available. */
export type RestoredModel =
  | { readonly kind: 'restored'; readonly name: string }
  | { readonly kind: 'unavailable'; readonly why: string }
  | { readonly kind: 'none' };

/** `choose` throws if there is no such model. */
export async function restoredModel(
  store: Store,
  key: ThreadKey,
  choose: (name: string) => unknown,
): Promise<RestoredModel> {
  const name = await lastModel(store, key);
  if (name === undefined) return { kind: 'none' };
  try {
    choose(name);
    return { kind: 'restored', name };
  } catch (error) {
    return { kind: 'unavailable', why: `This session's model is not used: ${reasonOf(error)}.` };
  }
}

async function lastModel(store: Store, key: ThreadKey): Promise<string | undefined> {
  const window = await store.window(key);
  const nodes = [...(window?.carried ?? []), ...(window?.tail ?? [])];
  return nodes.findLast(({ message }) => message.meta?.model !== undefined)?.message.meta?.model;
}
