import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBobbin, type Codec, type Message, type Part } from '@bobbin/core';
import { portable } from '@bobbin/codecs';
import { randomConversation, seededRandom } from '@bobbin/testing';
import { volume } from '@bobbin/testing/volume';
import { WIRE_FORMS } from './wire-forms.ts';

const SEEDS = volume(6, 400);
const WINDOWS = [2_000, 6_000, 30_000];

/** A wild conversation as another provider would be sent it. What no codec reads has no form in any other format. */
function conversation(seed: number): readonly Message[] {
  const shape = { messages: 40, hugeChars: 8_000 };
  const messages = randomConversation(seededRandom(seed), shape);
  return portable(messages.map((message) => ({ ...message, parts: message.parts.flatMap(known) })));
}

function known(part: Part): readonly Part[] {
  if (part.kind === 'opaque') return [];
  if (part.kind !== 'result') return [part];
  return [{ ...part, content: part.content.filter(({ kind }) => kind !== 'opaque') }];
}

for (const { codec, problems } of WIRE_FORMS)
  test(`${codec.name}: ${SEEDS} random conversations give valid prompts in every window`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const messages = conversation(seed);
      const decoded: Codec<object> = { ...codec, decode: () => messages };
      for (const window of WINDOWS) {
        const fitted = await createBobbin({ codec: decoded, window }).fit([{}]);
        assert.deepEqual(problems(fitted.messages), [], `seed ${seed} in ${window}`);
      }
    }
  });
