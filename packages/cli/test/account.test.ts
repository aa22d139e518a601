import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Fitted, type Message } from '@bobbin/core';
import {
  ANTHROPIC_RULES,
  budget,
  chars4,
  OPENAI_RULES,
  PRESETS,
  STRICT_RULES,
  type PresetName,
} from '@bobbin/core/internal';
import { randomConversation, seededRandom } from '@bobbin/testing';
import { volume } from '@bobbin/testing/volume';
import { accountOf, uncompactedAccount, type Account } from '../src/compact/token-account.ts';

const counter = chars4();
const RULES = [STRICT_RULES, ANTHROPIC_RULES, OPENAI_RULES];

function balance({ said, rungs, causes }: Account): number {
  const freed = rungs.reduce((sum, rung) => sum + rung.freed, 0);
  return said - freed + [...causes.values()].reduce((sum, tokens) => sum + tokens, 0);
}

test('every token of a prompt is accounted for, whatever was said, by every preset', async () => {
  const causes = new Set<string>();
  for (let seed = 1; seed <= volume(15, 300); seed++) {
    const random = seededRandom(seed);
    const messages = randomConversation(random, { messages: 40, hugeChars: 8_000 });
    const preset = Object.keys(PRESETS)[seed % Object.keys(PRESETS).length] as PresetName;
    const rules = RULES[seed % RULES.length] ?? STRICT_RULES;
    const windowTokens = random.int(1_500, 9_000);
    const bobbin = createBobbin({
      preset,
      counter,
      rules,
      budget: budget({ windowTokens, rehydrationTokens: 0 }),
    });
    const fitted: Fitted<Message> = await bobbin.fit(messages);
    const account = accountOf(messages, fitted, counter);
    assert.equal(balance(account), fitted.prompt.tokens, `seed ${seed}, ${preset}`);
    for (const cause of account.causes.keys()) causes.add(cause);
    const withoutRecords = uncompactedAccount(messages, rules, counter);
    const clock = { now: () => 0 };
    const wide = { counter, rules, clock, window: 10_000_000, preset: 'claude-code' } as const;
    const whole = await createBobbin(wide).fit(messages);
    assert.equal(balance(withoutRecords), whole.prompt.tokens, `seed ${seed}, withoutRecords`);
    for (const cause of withoutRecords.causes.keys()) causes.add(cause);
  }
  assert.deepEqual([...causes].toSorted(), [
    'hidden',
    'late',
    'notes',
    'opener',
    'thinking',
    'waiting',
  ]);
});
