import assert from 'node:assert/strict';
import { createBobbin } from '@bobbin/core';
import type { Recording } from './recordings.ts';
import type { WireForm } from './wire-forms.ts';

const WINDOWS = [4_000, 16_000, 64_000];

export function checkLossless(
  { codec, wire: toWire }: WireForm,
  { id, messages }: Recording,
): void {
  const wire = toWire(messages);
  const before = JSON.stringify(wire);
  assert.ok(JSON.stringify(codec.encode(codec.decode(wire))) === before, id);
}

/** At every budget the provider takes what comes out, and what was kept is the very message that came in. */
export async function checkCompaction(form: WireForm, { id, messages }: Recording): Promise<void> {
  const wire = form.wire(messages);
  for (const windowTokens of WINDOWS) {
    const bobbin = createBobbin({ codec: form.codec, budget: { windowTokens } });
    const fitted = await bobbin.fit(wire);
    const name = `${id} at ${windowTokens}`;
    assert.deepEqual(form.problems(fitted.messages), [], name);
    assert.ok(fitted.fits && fitted.prompt.tokens <= fitted.limitTokens, name);
    const kept = fitted.prompt.messages.filter(({ source }) => source.kind === 'kept');
    const originals = form.codec.encode(kept.map(({ message }) => message));
    const came = new Set(wire);
    // Words whose results were compacted away are no longer the whole message that they came in.
    const parted = originals.filter((message) => !came.has(message));
    assert.ok(parted.length <= 1 && (form.codec.name === 'anthropic' || parted.length === 0), name);
  }
}
