import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, memoryArtifacts, type MessageId, type Session } from '@bobbin/core';
import { canonicalJson } from '@bobbin/core/internal';
import { randomCase, seededRandom } from '@bobbin/testing';
import { volume } from '@bobbin/testing/volume';

const JOURNEYS = volume(30, 2_000);

/** The present prompt, one line a message. */
async function shown(session: Session): Promise<readonly string[]> {
  const { messages } = await session.promptAt(session.version, session.length);
  return messages.map(({ message: { role, parts } }) => canonicalJson({ role, parts }));
}

test(`22 after an undo the prompt is what it was before the compaction, pins included (${JOURNEYS} journeys)`, async () => {
  const differing: string[] = [];
  let undone = 0;
  for (let seed = 1; seed <= JOURNEYS; seed++) {
    const { messages, counter, policy, budget, rules, tools, cacheLimits } = randomCase(seed);
    const random = seededRandom(seed ^ 0x1234_5678);
    let now = 1_700_000_000_000;
    const session = await createBobbin({
      preset: policy,
      rules: {
        ...rules,
        bindsReasoning: false,
      },
      counter,
      budget,
      tools,
      cacheLimits,
      artifacts: memoryArtifacts(),
      clock: { now: () => now },
    }).thread(`undo-${seed}`);
    for (let next = 0; next < messages.length;) {
      const batch = messages.slice(next, next + random.int(1, 12));
      next += batch.length;
      const ids = await session.append(...batch);
      now += 60_000;
      if (random.chance(0.3)) await session.pin(ids[random.int(0, ids.length - 1)] as MessageId);
      const [pin] = session.plan.pins;
      if (pin !== undefined && random.chance(0.2)) await session.unpin(pin);
      if (random.chance(0.5)) await session.prompt();
      const before = await shown(session);
      const { version } = session;
      if (random.chance(0.5)) await session.compact();
      else await session.prompt();
      // More than one step may have been taken at once; each is undone.
      while (session.version > version && (await shown(session)).join() !== before.join())
        if (!(await session.undo())) break;
      if (session.version === version) continue;
      undone++;
      const after = await shown(session);
      if (after.join('\n') !== before.join('\n'))
        differing.push(`seed ${seed}:\n${before.join('\n')}\n--\n${after.join('\n')}`);
    }
  }
  assert.ok(undone > JOURNEYS / 4, `${undone} undone`);
  assert.deepEqual(differing.slice(0, 2), [], `${differing.length} of ${undone} differ`);
});
