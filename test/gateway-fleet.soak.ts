import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFleet } from './gateway-fleet.ts';

test('C15 three gateways on one PostgreSQL, killed in turn, the database restarted once', async (t) => {
  const report = await runFleet({
    conversations: 12,
    turns: 60,
    killEveryMs: 4_000,
    database: 'restarted',
  });
  t.diagnostic(JSON.stringify(report));
  assert.ok(report.kills >= 3 && report.compactions > 0);
  // A kill between the first message of a conversation without a name and its entry leaves a thread of its own.
  assert.ok(report.threads <= 12 + report.kills, `${report.threads} threads`);
});
