import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { memoryArtifacts, memoryStore, type ThreadId } from '@bobbin/core';
import {
  alikeRule,
  isAllowed,
  pathRequest,
  type Answer,
  type PermissionRequest,
} from '../src/loop/permissions.ts';
import { ToolRunner } from '../src/loop/tool-run.ts';
import type { Tool } from '../src/tools/tool.ts';
import { temporaryFolder } from './terminal.ts';

const run = (subject: string): PermissionRequest => ({ kind: 'run', subject, outside: false });
const write = (subject: string): PermissionRequest => ({ kind: 'write', subject, outside: false });
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

test('an allowed beginning of a command does not allow what is chained after it', () => {
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

test('a star after a blank matches whole words', () => {
  const permissions = allowing('run:ls *');
  assert.deepEqual(
    ['ls', 'ls -la src', 'ls-evil', 'lsof'].map((command) => isAllowed(run(command), permissions)),
    [true, true, false, false],
  );
});

/** What is asked when these are wished for one after another; what no answer is given for gets "always". */
async function asked(
  t: TestContext,
  answers: Readonly<Record<string, Answer>>,
  ...requests: readonly PermissionRequest[]
): Promise<readonly string[]> {
  const questions: string[] = [];
  const tools = requests.map((request, i): [string, Tool] => [
    `tool-${i}`,
    {
      name: `tool-${i}`,
      description: '',
      parameters: {},
      policy: { durability: 'ephemeral', replayCost: 'free' },
      request: () => request,
      run: async () => ({ text: '', outcome: 'success' }),
    },
  ]);
  const runner = new ToolRunner(new Map(tools), allowing(), async ({ request }) => {
    questions.push(request.subject);
    const [, answer] =
      Object.entries(answers).find(([begin]) => request.subject.startsWith(begin)) ?? [];
    return answer ?? 'always';
  });
  const context = {
    root: temporaryFolder(t),
    key: { tenant: 't', thread: 'th' as ThreadId },
    store: memoryStore(),
    artifacts: memoryArtifacts(),
    signal: new AbortController().signal,
    progress: () => undefined,
  };
  for (const [name] of tools)
    await runner.run({ kind: 'call', callId: name, tool: name, args: '{}' }, context);
  return questions;
}

test('"always" allows the same command again and nothing like it', async (t) => {
  for (const [first, second] of [
    ['rm -rf build', 'rm -rf /home/me'],
    ['find . -name x', 'find . -delete'],
    ['git -C . status', 'git -C /elsewhere push'],
    ['npm test', 'npm publish'],
    ['npm', 'npm publish'],
    ['ls', 'ls-evil'],
    ['echo *', 'echo secrets'],
  ] as const)
    assert.deepEqual(await asked(t, {}, run(first), run(first), run(second)), [first, second]);
});

test('"always" for a path means that path, whatever characters are in it', async (t) => {
  const odd = 'app/[post-id]/*.tsx';
  assert.deepEqual(
    await asked(t, {}, write(odd), write(odd), write('src/a.ts'), write('app/p/a.tsx')),
    [odd, 'src/a.ts', 'app/p/a.tsx'],
  );
});

test('a rule reaches outside the project only where it names it', () => {
  const outside: PermissionRequest = { kind: 'write', subject: '/tmp/x/a.ts', outside: true };
  assert.equal(isAllowed(outside, allowing('write:**')), false);
  assert.equal(isAllowed(outside, allowing('write:/tmp/x/**')), true);
});

test('paths outside the project are recognised, also through links', (t) => {
  const root = temporaryFolder(t);
  const project = join(root, 'project');
  mkdirSync(join(project, 'src'), { recursive: true });
  mkdirSync(join(root, 'secret'));
  symlinkSync(join(root, 'secret'), join(project, 'link'));
  assert.deepEqual(pathRequest('write', 'src/new/a.ts', project), {
    kind: 'write',
    subject: 'src/new/a.ts',
    outside: false,
  });
  assert.deepEqual(pathRequest('read', '../secret/a', project).outside, true);
  assert.deepEqual(pathRequest('write', 'link/a', project), {
    kind: 'write',
    subject: join(root, 'secret', 'a'),
    outside: true,
    link: 'link/a',
  });
  assert.deepEqual(pathRequest('read', '..hidden', project).outside, false);
});

test('a link to what is not there yet leads where it leads, over any number of links', (t) => {
  const root = temporaryFolder(t);
  const project = join(root, 'project');
  mkdirSync(project);
  mkdirSync(join(root, 'outside'));
  symlinkSync('../outside/newfile', join(project, 'notes.md'));
  symlinkSync('notes.md', join(project, 'again.md'));
  symlinkSync('folder/new.md', join(project, 'inside.md'));
  symlinkSync('round', join(project, 'round'));
  const outside = { kind: 'write', subject: join(root, 'outside/newfile'), outside: true };
  assert.deepEqual(
    ['notes.md', 'again.md', 'inside.md', 'round'].map((path) =>
      pathRequest('write', path, project),
    ),
    [
      { ...outside, link: 'notes.md' },
      { ...outside, link: 'again.md' },
      { kind: 'write', subject: 'folder/new.md', outside: false },
      { kind: 'write', subject: 'round', outside: false },
    ],
  );
});

test('commands like one are of the same program and subcommand, and chain nothing', () => {
  const rules = [
    ['npm test -- a.test.ts', 'npm test *'],
    ['npm run build:all', 'npm run *'],
    ['git diff HEAD~1', 'git diff *'],
    ['ls -la src', 'ls *'],
    ['touch made', 'touch *'],
    ['cargo', undefined],
    ['git -C /elsewhere push', undefined],
    ['npm test && rm -rf .', undefined],
    ['echo $(id)', undefined],
    ['bash -c "rm x"', undefined],
    ['sudo ls', undefined],
    ['python3 x.py', undefined],
    ['A=1 ls', undefined],
    ['./run.sh now', undefined],
  ] as const;
  assert.deepEqual(
    rules.map(([command]) => [command, alikeRule(command)]),
    rules.map((rule) => [...rule]),
  );
});

test('"alike" and "edits" allow what they say for the session, and nothing beyond', async (t) => {
  const outside: PermissionRequest = { kind: 'write', subject: '/elsewhere/x', outside: true };
  assert.deepEqual(
    await asked(t, { npm: 'alike' }, run('npm test a'), run('npm test b'), run('npm publish')),
    ['npm test a', 'npm publish'],
  );
  assert.deepEqual(
    await asked(
      t,
      { npm: 'alike' },
      run('npm test a'),
      run('npm test a; rm x'),
      run('npm testing'),
    ),
    ['npm test a', 'npm test a; rm x', 'npm testing'],
  );
  assert.deepEqual(
    await asked(t, { 'src/a.ts': 'edits' }, write('src/a.ts'), write('b.md'), outside, run('ls')),
    ['src/a.ts', '/elsewhere/x', 'ls'],
  );
  const hooks = ['.git/hooks/pre-commit', 'sub/.git/config', '.bobbin/settings.json'];
  assert.deepEqual(
    await asked(t, { 'a.ts': 'edits' }, write('a.ts'), ...hooks.map(write), write('.github/x')),
    ['a.ts', ...hooks],
  );
});
