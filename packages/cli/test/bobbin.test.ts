import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import packageJson from '../package.json' with { type: 'json' };

const SHIM = fileURLToPath(new URL('../bin/bobbin.mjs', import.meta.url));

function bobbin(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SHIM, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('--version prints the version of the package', () => {
  assert.deepEqual(bobbin('--version'), {
    status: 0,
    stdout: `${packageJson.version}\n`,
    stderr: '',
  });
});

test('an unknown command is bad input: one line, exit code 2', () => {
  assert.deepEqual(bobbin('unwind'), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: unknown command "unwind"; see bobbin --help\n',
  });
});
