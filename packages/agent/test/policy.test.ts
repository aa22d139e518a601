import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Policy } from '@bobbin/core';
import { PRESETS } from '@bobbin/core/internal';
import { policyOf } from '../src/compaction/policy.ts';

const SETTINGS = { enabled: true, reserveTokens: 10_000, keepRecentTokens: 5_000 };

const gist = ({ name, trigger, cut, ladder }: Policy): unknown => ({
  name,
  trigger,
  cut,
  rungs: ladder.map((rung) => rung.name),
});

test('B5 B19 B20 B24 each preset is itself, with the figures of the settings where it has such', () => {
  const { pi, opencode, codex, timeline, ...others } = PRESETS;
  const made = (preset: string): unknown => gist(policyOf({ ...SETTINGS, preset }, 200_000, true));
  assert.deepEqual(made('pi'), {
    ...(gist(pi) as object),
    trigger: { kind: 'reserve', reserveTokens: 10_000 },
    cut: { kind: 'keep-tokens', tokens: 5_000, splitTurns: false },
  });
  assert.deepEqual(made('opencode'), {
    ...(gist(opencode) as object),
    trigger: { kind: 'reserve', reserveTokens: 10_000 },
  });
  assert.deepEqual(made('codex'), gist(codex));
  assert.deepEqual(made('timeline'), {
    ...(gist(timeline) as object),
    cut: { kind: 'keep-tokens', tokens: 5_000, splitTurns: true },
  });
  for (const [name, policy] of Object.entries(others)) assert.deepEqual(made(name), gist(policy));
});

test('B3 B5 a window too small for the reserve has a quarter as one; without auto-compaction nothing triggers', () => {
  const small = policyOf({ ...SETTINGS, preset: 'pi' }, 16_000, true);
  assert.deepEqual(small.trigger, { kind: 'reserve', reserveTokens: 4_000 });
  assert.deepEqual(small.cut, { kind: 'keep-tokens', tokens: 5_000, splitTurns: false });
  const { trigger, firstSightShare } = policyOf(SETTINGS, 16_000, false);
  assert.deepEqual([trigger.kind, firstSightShare], ['custom', undefined]);
});
