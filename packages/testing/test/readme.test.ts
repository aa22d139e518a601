import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

test('the example of the README runs as it is', () => {
  const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
  const [, example = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--conditions=@bobbin/source', '--input-type=module-typescript', '--eval', example],
    { encoding: 'utf8', cwd: import.meta.dirname },
  );
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /Assertion failed|Error/);
});
