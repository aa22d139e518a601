import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { textOf } from '@bobbin/core';
import { importSession, type Imported } from '../src/session/import-session.ts';
import { ledgerOf } from '../src/session/ledger.ts';
import { asking, PROVIDERS } from './provider-shop.ts';
import { bobbinFile, claudeFile, codexFile, opencodeFile, piFile } from './session-samples.ts';
import { ofType, workshop, type Workshop } from './workshop.ts';

/** Each format with the system messages of the program that wrote the file. */
const FORMATS = [
  ['bobbin', bobbinFile, 1],
  ['pi', piFile, 0],
  ['claude-code', claudeFile, 0],
  ['codex', codexFile, 2],
  ['opencode', opencodeFile, 0],
] as const;

async function imported({ folders, agent }: Workshop, content: string): Promise<Imported> {
  const path = join(folders.project, 'session.jsonl');
  writeFileSync(path, content);
  return importSession(path, folders, agent.options.vault, Date.now());
}

for (const [format, content, leftOut] of FORMATS)
  test(`B8 a session of ${format} is imported and gets one more answer from every provider`, async (t) => {
    for (const provider of PROVIDERS) {
      const { server, shop } = await asking(t, provider, { kind: 'answer', text: 'Fixed.' });
      const { session, ...facts } = await imported(shop, content);
      assert.deepEqual(facts, { format, messages: 4, leftOut });
      await shop.line(`/resume ${session}`);
      const end = await shop.line('go on');
      assert.deepEqual([provider[0], end, ofType(shop.events, 'error')], [provider[0], 'done', []]);
      const [request] = server.requests;
      assert.match(
        request?.text ?? '',
        /Fix the bug in parser\.ts[^]*cat parser\.ts[^]*export const parse[^]*I see the bug[^]*go on/,
      );
      assert.doesNotMatch(request?.text ?? '', /below the folder|mode is now|another host/);
      assert.equal(ofType(shop.events, 'assistant').at(-1)?.text, 'Fixed.');
    }
  });

test('what another program paid, and how large its prompts were, is not this session’s', async (t) => {
  for (const [, content] of FORMATS) {
    const shop = await workshop(t, { script: `return { text: 'ok' };` });
    const { session } = await imported(shop, content);
    const again = await shop.again({ session });
    assert.equal((await ledgerOf(again.agent.session)).requests, 0);
    const { contextTokens, systemTokens, toolTokens } = again.agent.session;
    assert.ok(contextTokens > systemTokens + toolTokens);
    const [first] = await again.agent.session.turns();
    assert.equal(first && textOf(first.message), 'Fix the bug in parser.ts');
  }
});

test('what is no session file is refused with a reason', async (t) => {
  const shop = await workshop(t, { script: `return { text: 'ok' };` });
  await assert.rejects(
    imported(shop, '{"a":1}\n'),
    /is no session file of Bobbin, pi, Claude Code, Codex or OpenCode/,
  );
  await assert.rejects(
    importSession('none.jsonl', shop.folders, shop.agent.options.vault, 0),
    /ENOENT/,
  );
});
