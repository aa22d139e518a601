import assert from 'node:assert/strict';
import { createBobbin, type Codec, type Fitted } from '@bobbin/core';
import { BUDGET_DEFAULTS, chars4, STRICT_RULES, Thread } from '@bobbin/core/internal';
import { expectValid } from '@bobbin/testing';

/** Fits a conversation into a window and checks the prompt against every law, and its wire form by the provider's. */
export async function checkedFit(
  codec: Codec<object>,
  wire: readonly object[],
  windowTokens: number,
  problems: (wire: readonly object[]) => readonly string[],
): Promise<Fitted<object>> {
  const counter = chars4();
  const messages = codec.decode(wire);
  const once: Codec<object> = { ...codec, decode: () => messages };
  const fitted = await createBobbin({ codec: once, counter, budget: { windowTokens } }).fit(wire);
  const thread = new Thread(fitted.plan.thread);
  for (const message of messages) thread.append(message);
  expectValid(thread, fitted.plan, fitted.prompt, {
    rules: codec.rules ?? STRICT_RULES,
    counter,
    limitTokens: fitted.limitTokens,
    fits: fitted.fits,
    reserveTokens: BUDGET_DEFAULTS.rehydrationTokens,
  });
  assert.deepEqual(problems(fitted.messages), []);
  assert.ok(fitted.fits);
  return fitted;
}
