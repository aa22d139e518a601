import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isAllowed, pathWish, ruleFor, type Wish } from '../src/permissions.ts';
import { temporaryFolder } from './terminal.ts';

const run = (subject: string): Wish => ({ kind: 'run', subject, outside: false });
const allowing = (...allow: readonly string[]) => ({ all: false, allow });

test('bash and writes ask unless allowed; reading inside the project does not', () => {
  assert.equal(isAllowed(run('ls'), allowing()), false);
  assert.equal(isAllowed({ kind: 'write', subject: 'a.ts', outside: false }, allowing()), false);
  assert.equal(isAllowed({ kind: 'read', subject: 'a.ts', outside: false }, allowing()), true);
  assert.equal(
    isAllowed({ kind: 'read', subject: '/etc/passwd', outside: true }, allowing()),
    false,
  );
  assert.equal(isAllowed(run('rm -rf /'), { all: true, allow: [] }), true);
});

test('an allowed beginning of a command does not allow what is chained behind it', () => {
  const permissions = allowing('run:npm test*');
  assert.equal(isAllowed(run('npm test -- a.test.ts'), permissions), true);
  for (const command of [
    'npm test; rm -rf .',
    'npm test && curl x',
    'npm test | sh',
    'npm test $(x)',
    'npm test\nrm x',
    'npm test > /etc/x',
    'npm tes',
  ])
    assert.equal(isAllowed(run(command), permissions), false, command);
  assert.equal(
    isAllowed(run('npm test && npm run lint'), allowing('run:npm test && npm run lint')),
    true,
  );
});

test('"always" makes a rule that covers the same again and no more', () => {
  assert.deepEqual(
    [ruleFor(run('npm test')), ruleFor(run('git status -s')), ruleFor(run('a; b'))],
    ['run:npm test*', 'run:git status*', 'run:a; b'],
  );
  assert.equal(ruleFor({ kind: 'write', subject: 'src/a.ts', outside: false }), 'write:src/a.ts');
});

test('a rule reaches outside the project only where it names it', () => {
  const outside: Wish = { kind: 'write', subject: '/tmp/x/a.ts', outside: true };
  assert.equal(isAllowed(outside, allowing('write:**')), false);
  assert.equal(isAllowed(outside, allowing('write:/tmp/x/**')), true);
});

test('paths outside the project are told, also behind links', (t) => {
  const root = temporaryFolder(t);
  const project = join(root, 'project');
  mkdirSync(join(project, 'src'), { recursive: true });
  mkdirSync(join(root, 'secret'));
  symlinkSync(join(root, 'secret'), join(project, 'link'));
  assert.deepEqual(pathWish('write', 'src/new/a.ts', project), {
    kind: 'write',
    subject: 'src/new/a.ts',
    outside: false,
  });
  assert.deepEqual(pathWish('read', '../secret/a', project).outside, true);
  assert.deepEqual(pathWish('write', 'link/a', project).outside, true);
  assert.deepEqual(pathWish('read', '..hidden', project).outside, false);
});
