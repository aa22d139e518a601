import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFleet } from './gateway-fleet.ts';

for (const ownWorkMs of [undefined, 5_000])
  test(`C15 three gateways on one PostgreSQL, killed in turn, the database restarted once; ${ownWorkMs ?? 'the default of'} ms for a request`, async (t) => {
    const report = await runFleet({
      conversations: 12,
      turns: 60,
      kills: 12,
      killEveryMs: 2_000,
      database: 'restarted',
      ...(ownWorkMs === undefined ? {} : { ownWorkMs }),
    });
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.compactions > 0 && report.checked >= 6);
    // A kill between the first message of a conversation without a name and its entry leaves a thread of its own.
    assert.ok(report.threads <= 12 + report.kills, `${report.threads} threads`);
  });
