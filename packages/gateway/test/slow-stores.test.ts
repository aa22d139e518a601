import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteLedger, type Ledger } from '@bobbin/stores';
import { bareUpstream, runningGateway, until } from './running-gateway.ts';

const OWN_WORK_MS = 100;
/** Far more than the gateway may take, and far less than a test. */
const SLOW_MS = 3_000;
const PATIENT_MS = 2_000;

/** A ledger whose answers to one question take long; it counts them. */
function slowLedger(
  method: 'rounds' | 'locate',
  ms: number,
): { readonly ledger: Ledger; readonly asked: () => number } {
  const ledger = sqliteLedger(':memory:');
  const answer = ledger[method].bind(ledger) as (...args: readonly unknown[]) => unknown;
  let asked = 0;
  const slow = async (...args: readonly unknown[]): Promise<unknown> => {
    asked++;
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer(...args);
  };
  Object.assign(ledger, { [method]: slow });
  return { ledger, asked: () => asked };
}

const bodyOf = (content: string): string =>
  JSON.stringify({ model: 'gpt-5', messages: [{ role: 'user', content }] });

for (const method of ['rounds', 'locate'] as const)
  test(`with tools too, a ledger that is slow to answer ${method} holds no request up`, async (t) => {
    const answer = { choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }] };
    const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end(JSON.stringify(answer)));
    const { ledger } = slowLedger(method, SLOW_MS);
    const gateway = await runningGateway(t, {
      upstreams: { openai: upstream.url },
      ledger,
      tools: 'on',
      limits: { ownWorkMs: OWN_WORK_MS },
    });
    const begun = performance.now();
    for (const content of ['first', 'second']) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: bodyOf(content),
      });
      assert.match(await response.text(), /hello/);
    }
    assert.ok(performance.now() - begun < PATIENT_MS);
    assert.equal(upstream.seen.length, 2);
  });

test('work on requests that have gone out is not begun any more', async (t) => {
  const upstream = await bareUpstream(t, (_, outgoing) => outgoing.end('{}'));
  const { ledger, asked } = slowLedger('locate', 200);
  const gateway = await runningGateway(t, {
    upstreams: { openai: upstream.url },
    ledger,
    limits: { ownWorkMs: OWN_WORK_MS },
  });
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        body: bodyOf(`Question ${i}`),
      });
      await response.text();
      return response.headers.get('x-bobbin-action');
    }),
  );
  assert.deepEqual(new Set(answers), new Set(['late']));
  // One after another, they would take 6 s. Those that waited are given up.
  await until(async () => (await gateway.store.tenants()).length === 1, 'the first is stored');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.ok(asked() <= 4, `${asked()} of 30 were looked up`);
});
