import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { failuresWithTwoCores } from './core-twice.ts';

const PROGRAM = `
import { Session } from '@bobbin/core';
import { WatchedThread } from '@bobbin/testing';
const { handle } = await WatchedThread.open({});
console.log(handle.constructor.name, handle instanceof Session);
`;

test('a second copy of core is really another one', () => {
  const node = ['--import=./test/second-core.ts', '--conditions=@bobbin/source'];
  const args = [...node, '--input-type=module', '--eval', PROGRAM];
  const cwd = join(import.meta.dirname, '..');
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.equal(stdout, 'Session false\n', stderr);
});

test('core loaded twice in one process passes its tests of sessions; the soak runs all', () => {
  const { failed, passed } = failuresWithTwoCores('session.test.ts');
  assert.deepEqual(failed, []);
  assert.ok(passed > 10, `${passed}`);
});
