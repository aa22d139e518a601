import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryArtifacts, memoryStore } from '@bobbin/core';
import { gatewaySettings, startGateway } from '@bobbin/gateway';
import { sqliteLedger } from '@bobbin/stores';

const MISTAKES: readonly (readonly [policy: object, problem: RegExp])[] = [
  [
    { windowToken: 32_000 },
    /^policies\[1\]\.windowToken: there is no such field \(did you mean windowTokens\?\); known are/,
  ],
  [{ windowTokens: 1 }, /^policies\[1\]\.windowTokens must be a number of at least 500, not 1$/],
  [{ windowTokens: '32k' }, /^policies\[1\]\.windowTokens must be a number .*, not "32k"$/],
  [{ softShare: 3 }, /^policies\[1\]\.softShare must be a number above 0 and at most 1, not 3$/],
  [{ firstSightShare: 0 }, /^policies\[1\]\.firstSightShare must be a number above 0/],
  [
    { requestsToCome: -1 },
    /^policies\[1\]\.requestsToCome must be a number of at least 0, not -1$/,
  ],
];

for (const [policy, problem] of MISTAKES)
  test(`a gateway does not start with the policy ${JSON.stringify(policy)}`, async (t) => {
    const policies = [{ model: 'gpt-' }, { model: 'claude-', ...policy }];
    const file = { path: 'gateway.json', content: { policies } };
    assert.throws(() => gatewaySettings({ flags: {}, env: {}, file }), { message: problem });
    const ledger = sqliteLedger(':memory:');
    t.after(() => ledger.close());
    const stores = { store: memoryStore(), artifacts: memoryArtifacts(), ledger };
    await assert.rejects(startGateway({ ...stores, policies }), {
      name: 'TypeError',
      message: problem,
    });
  });
