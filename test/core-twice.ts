import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** Runs tests of core while `@bobbin/testing` has a copy of core of its own; returns what failed. */
export function failuresWithTwoCores(pattern: string): { failed: string[]; passed: number } {
  const files = globSync(`packages/core/test/${pattern}`, { cwd: root });
  const node = ['--import=./test/second-core.ts', '--conditions=@bobbin/source'];
  const args = [...node, '--test', '--test-reporter=tap', '--test-concurrency=2', ...files];
  // Within a test, Node's runner would report to the one outside.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const failed = [...stdout.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
  return { failed, passed: Number(/^# pass (\d+)$/m.exec(stdout)?.[1] ?? 0) };
}
