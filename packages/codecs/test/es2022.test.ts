import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('core and codecs run where nothing newer than ES2022 is, and nothing of Node’s', () => {
  const host = fileURLToPath(new URL('es2022-host.ts', import.meta.url));
  const args = ['--conditions=@bobbin/source', '--no-warnings', host];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(status, 0);
});
