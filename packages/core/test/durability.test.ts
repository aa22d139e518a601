import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clear, externalize, memoryArtifacts, type Policy, type ResultPart } from '@bobbin/core';
import {
  chars4,
  clearedPlaceholder,
  durabilityOf,
  hasDrifted,
  messagesOnly,
  preservedFields,
  step,
  verifiedDurability,
  type Determinism,
  type Durability,
  type ToolPolicies,
} from '@bobbin/core/internal';
import { call, resultPart, round, user, WatchedThread } from '@bobbin/testing';

const order = call('create_order', { item: 'x' }, 'c1');
const envelope: ResultPart = resultPart(
  order,
  '{"order_id":"o-7","status":"open","note":"a long note"}',
  {
    outcome: 'success',
    keyFields: { total: 12 },
    startedAt: 1,
    completedAt: 2,
  },
);

/** Clears all that it may, whenever it is asked. */
const clearing: Policy = {
  ...step(),
  name: 'clearing',
  trigger: { kind: 'tokens', atLeast: 1 },
  ladder: [clear()],
};

/** What becomes of an old result of a tool. */
async function fateOf(
  given: Partial<ResultPart>,
  tools: ToolPolicies = {},
): Promise<{ kind: string | undefined; text: string; stored: string | undefined }> {
  const artifacts = memoryArtifacts();
  const watched = await WatchedThread.open({
    preset: clearing,
    counter: chars4(),
    budget: messagesOnly(100_000),
    tools,
    artifacts,
  });
  const content = 'found it\n'.repeat(100);
  await watched.append(
    user('go'),
    ...round('look', { n: 1 }, content, given),
    ...round('look', { n: 2 }, 'new'),
    user('and?'),
  );
  const { plan, prompt } = await watched.prompt();
  const shown = prompt.messages[2]?.message.parts[0];
  assert.ok(shown?.kind === 'result' && shown.content[0]?.kind === 'text');
  const [record] = plan.records;
  const id = record?.kind === 'externalize' ? record.artifactId : undefined;
  const stored = id === undefined ? undefined : await artifacts.get(id, { tenant: 'default' });
  return {
    kind: record?.kind,
    text: shown.content[0].text,
    stored: typeof stored === 'string' && stored === content ? 'whole' : undefined,
  };
}

test('C7 a cleared result keeps tool, outcome and key fields', () => {
  const placeholder = clearedPlaceholder(envelope, { order_id: 'o-7', total: 12 });
  assert.match(
    placeholder,
    /^\[create_order: success\b.*\]\nKey data: \{"order_id":"o-7","total":12\}$/,
  );
  assert.match(
    clearedPlaceholder({ ...envelope, outcome: 'failure' }, {}),
    /^\[create_order: failure\b.*\]$/,
  );
});

test('C7 the envelope of a cleared result stays in its place', async () => {
  const { kind, text } = await fateOf({ outcome: 'partial', keyFields: { id: 9 } });
  assert.equal(kind, 'clear');
  assert.match(text, /^\[look: partial\b.*\]\nKey data: \{"summary":"[^"]+","id":9\}$/);
});

test('C8 the default is anchoring, the envelope may say otherwise, and the tool decides', () => {
  assert.equal(durabilityOf(envelope, {}), 'anchoring');
  assert.equal(durabilityOf({ ...envelope, durability: 'ephemeral' }, {}), 'ephemeral');
  const tools = { create_order: { durability: 'non-replayable' } } as const;
  assert.equal(durabilityOf({ ...envelope, durability: 'ephemeral' }, tools), 'non-replayable');
});

async function fate(durability: Durability): Promise<readonly unknown[]> {
  const { kind, stored } = await fateOf({ durability });
  return [kind, stored];
}

test('C8 ephemeral and anchoring results are cleared, non-replayable ones go to an artifact', async () => {
  assert.deepEqual(await fate('ephemeral'), ['clear', undefined]);
  assert.deepEqual(await fate('anchoring'), ['clear', undefined]);
  assert.deepEqual(await fate('non-replayable'), ['externalize', 'whole']);
  assert.deepEqual(await fate('replayable'), ['externalize', 'whole'], 'nobody can verify it');
});

test('C8 an anchoring result keeps a summary and its key fields, an ephemeral one need not have any', async () => {
  const tools = { look: { preserveFields: ['id'] } };
  assert.match(
    (await fateOf({ keyFields: { id: 3 } }, tools)).text,
    /Key data: \{"summary":"[^"]+","id":3\}/,
  );
  assert.doesNotMatch((await fateOf({ durability: 'ephemeral' }, tools)).text, /Key data/);
});

/** A tool whose source looks like that now. */
function reading(now: Determinism | undefined): ToolPolicies {
  return {
    look: { durability: 'replayable', captureDeterminism: () => Promise.resolve(now) },
  };
}

test('C9 a replayable result is cleared while its source is unchanged', async () => {
  const given = { determinism: { mtime: 5, contentHash: 'abc' } };
  assert.equal((await fateOf(given, reading({ mtime: 5 }))).kind, 'clear');
  assert.equal((await fateOf(given, reading({ contentHash: 'abc', mtime: 6 }))).kind, 'clear');
  assert.equal((await fateOf(given, reading({ mtime: 6 }))).kind, 'externalize', 'drifted');
  assert.equal((await fateOf(given, reading(undefined))).kind, 'externalize', 'cannot be verified');
});

test('C9 C10 a source is looked at when its result comes in, and again before the result is cleared', async () => {
  let mtime = 5;
  const look = (replayCost: 'cheap' | 'expensive', later: number): ToolPolicies => ({
    look: {
      durability: 'replayable',
      replayCost,
      captureDeterminism: () => Promise.resolve({ mtime: (mtime += later) }),
    },
  });
  assert.equal((await fateOf({}, look('cheap', 0))).kind, 'clear', 'unchanged');
  assert.equal((await fateOf({}, look('cheap', 1))).kind, 'externalize', 'drifted');
  assert.equal((await fateOf({}, look('expensive', 0))).kind, 'externalize', 'dear to ask again');
  assert.equal((await fateOf({}, reading(undefined))).kind, 'externalize', 'never captured');
});

test('C9 the first mark that both sides have decides; none in common counts as changed', () => {
  assert.equal(hasDrifted({ contentHash: 'a', mtime: 1 }, { contentHash: 'a', mtime: 2 }), false);
  assert.equal(hasDrifted({ contentHash: 'a', mtime: 1 }, { contentHash: 'b', mtime: 1 }), true);
  assert.equal(hasDrifted({ etag: 'x' }, { etag: 'x' }), false);
  assert.equal(hasDrifted({ version: '1' }, { version: '2' }), true);
  assert.equal(hasDrifted({ etag: 'x' }, { mtime: 1 }), true);
  assert.equal(hasDrifted({}, {}), true);
});

test('C9 a capture that fails cannot verify', async () => {
  const tools: ToolPolicies = {
    create_order: {
      durability: 'replayable',
      captureDeterminism: () => Promise.reject(new Error('gone')),
    },
  };
  const known = { ...envelope, determinism: { etag: 'x' } };
  assert.equal(await verifiedDurability(known, '{}', tools), 'non-replayable');
  assert.equal(
    await verifiedDurability({ ...known, durability: 'anchoring' }, '{}', {}),
    'anchoring',
  );
});

test('C10 a tool declares the fields that survive, and a capture is asked with the call', async () => {
  const tools = { create_order: { preserveFields: ['order_id', 'status', 'missing'] } };
  assert.deepEqual(preservedFields(envelope, tools), {
    order_id: 'o-7',
    status: 'open',
    total: 12,
  });
  assert.deepEqual(preservedFields(envelope, {}), { total: 12 });
  assert.deepEqual(preservedFields(resultPart(order, 'no JSON'), tools), {});
  const asked: unknown[] = [];
  await fateOf(
    { determinism: { etag: 'x' } },
    {
      look: {
        durability: 'replayable',
        captureDeterminism: (asking) => {
          asked.push(asking);
          return Promise.resolve({ etag: 'x' });
        },
      },
    },
  );
  assert.deepEqual(asked, [
    { tool: 'look', args: '{"n":2}' },
    { tool: 'look', args: '{"n":1}' },
  ]);
});

async function movedOver(externalizeOverTokens: number): Promise<number> {
  const watched = await WatchedThread.open({
    preset: {
      ...clearing,
      ladder: [externalize()],
      cut: { kind: 'everything' },
      targetShare: 0.006,
    },
    counter: chars4(),
    budget: messagesOnly(100_000),
    tools: { look: { externalizeOverTokens } },
  });
  await watched.append(user('go'), ...round('look', { n: 1 }, 'x'.repeat(4_000)), user('and?'));
  return (await watched.prompt()).plan.records.length;
}

test('C10 a tool sets its own threshold for externalizing', async () => {
  assert.equal(await movedOver(1_002), 1);
  assert.equal(await movedOver(1_003), 0);
});
