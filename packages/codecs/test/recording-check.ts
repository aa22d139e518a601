import assert from 'node:assert/strict';
import { checkedFit } from './fit-check.ts';
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
  const { codec, problems } = form;
  const wire = form.wire(messages);
  const came = new Set(wire);
  for (const windowTokens of WINDOWS) {
    const { prompt } = await checkedFit(codec, wire, windowTokens, problems);
    const kept = prompt.messages.filter(({ source }) => source.kind === 'kept');
    const originals = codec.encode(kept.map(({ message }) => message));
    const changed = originals.filter((message) => !came.has(message));
    // Words whose results were compacted away are no longer the whole message that they came in.
    const parted = codec.name === 'anthropic' ? 1 : 0;
    assert.ok(changed.length <= parted, `${id} at ${windowTokens}`);
  }
}
