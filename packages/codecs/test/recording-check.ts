import assert from 'node:assert/strict';
import { isSoak } from '@bobbin/testing/volume';
import { checkedFit } from './fit-check.ts';
import type { Recording } from './recordings.ts';
import type { WireForm } from './wire-forms.ts';

const WINDOWS = isSoak() ? [4_000, 16_000, 64_000] : [16_000];

export function checkLossless(
  { codec, wire: toWire }: WireForm,
  { id, messages }: Recording,
): void {
  // Whoever changes what it was given fails there, so that the very message that came in needs no second look.
  const wire = toWire(messages).map(frozen);
  const encoded = codec.encode(codec.decode(wire));
  assert.equal(encoded.length, wire.length, id);
  for (const [i, message] of encoded.entries())
    assert.ok(message === wire[i] || JSON.stringify(message) === JSON.stringify(wire[i]), id);
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** At every budget the provider takes what comes out, and what was kept is the very message that came in, or its very blocks. */
export async function checkCompaction(form: WireForm, { id, messages }: Recording): Promise<void> {
  const { codec, problems } = form;
  const wire = form.wire(messages);
  const came = new Set(wire);
  const blocks = new Set(wire.flatMap(form.blocks ?? (() => [])));
  for (const windowTokens of WINDOWS) {
    const { prompt } = await checkedFit(codec, wire, windowTokens, problems);
    const kept = prompt.messages.filter(({ source }) => source.kind === 'kept');
    const originals = codec.encode(kept.map(({ message }) => message));
    const changed = originals.filter((message) => !came.has(message));
    if (form.blocks === undefined) assert.deepEqual(changed, [], `${id} at ${windowTokens}`);
    else
      assert.deepEqual(
        changed.flatMap(form.blocks).filter((each) => !blocks.has(each)),
        [],
      );
  }
}
