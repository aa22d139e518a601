import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryArtifacts } from '@bobbin/core';
import {
  budget,
  chars4,
  jsonText,
  PRESETS,
  type ArtifactMetadata,
  type PresetName,
} from '@bobbin/core/internal';
import { assistant, round, user, WatchedThread } from '@bobbin/testing';

test('14.3 C8 what cannot be asked for again is in an artifact before a summary or nothing takes its place', async () => {
  for (const preset of Object.keys(PRESETS) as PresetName[]) {
    const put = new Set<string>();
    const artifacts = memoryArtifacts();
    const watching = {
      ...artifacts,
      put(content: string | Uint8Array, metadata: ArtifactMetadata) {
        put.add(String(content));
        return artifacts.put(content, metadata);
      },
    };
    const watched = await WatchedThread.open({
      preset,
      counter: chars4(),
      clock: { now: () => 1 },
      artifacts: watching,
      tools: { measure: { durability: 'non-replayable' } },
      budget: budget({ windowTokens: 8_000 }),
    });
    const measured = `MEASURED ${'7 '.repeat(1_500)}`;
    await watched.append(user('Measure.'), ...round('measure', {}, measured));
    for (let turn = 0; turn < 40; turn++) {
      await watched.append(user(`turn ${turn} ${'u'.repeat(1_200)}`), assistant('noted'));
      await watched.prompt();
    }
    const shown = jsonText((await watched.prompt()).prompt.messages);
    assert.ok(!shown.includes(measured), `${preset} compacts it`);
    assert.ok(put.has(measured), preset);
  }
});
