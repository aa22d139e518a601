import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { EMPTY_SUMMARY, extract, renderSummary } from '@bobbin/core/internal';
import { round, thread, user } from '@bobbin/testing';

const ran = (command: string, output: string): readonly Message[] =>
  round('bash', { command }, output);

const edited = (path: string): readonly Message[] =>
  round('edit', { file_path: path, old_string: '<<<<<<< HEAD', new_string: 'kept' }, 'edited');

const merged = ran(
  'git merge origin/main',
  `Auto-merging src/a.ts
CONFLICT (content): Merge conflict in src/a.ts
CONFLICT (add/add): Merge conflict in src/rows/b.ts
CONFLICT (modify/delete): docs/old.md deleted in origin/main and modified in HEAD.
exit code 1`,
);

function summaryOf(messages: readonly Message[], previous: Summary | null = null): Summary {
  const nodes = thread(user('Merge main.'), ...messages).path();
  return extract({ nodes, previous, task: 'Merge main.', round: 1 });
}

const open = (...messages: readonly (readonly Message[])[]): readonly string[] =>
  (summaryOf(messages.flat()).conflicts ?? []).map(({ path }) => path);

test('C6 the conflicts of a merge are open work: which files are not edited so far, and which are', () => {
  const summary = summaryOf([...merged, ...edited('/repo/src/a.ts')]);
  assert.deepEqual(summary.conflicts, [
    { path: 'src/a.ts', at: 2, editedAt: 3 },
    { path: 'src/rows/b.ts', at: 2 },
    { path: 'docs/old.md', at: 2 },
  ]);
  assert.match(
    renderSummary(summary),
    /^- Merge conflicts \[m3\]: not edited so far: src\/rows\/b\.ts, docs\/old\.md; edited since: a\.ts$/m,
  );
});

test('a conflict is over when git is told so', () => {
  const all = ['src/a.ts', 'src/rows/b.ts', 'docs/old.md'];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['git status', all],
    ['git add src/a.ts && git rm docs/old.md', ['src/rows/b.ts']],
    ['git checkout --ours -- src/rows/b.ts', ['src/a.ts', 'docs/old.md']],
    ['git add src', ['docs/old.md']],
    ['git add -A', []],
    ['git add .', []],
    ['git commit -m "Merge main"', []],
    ['git merge --abort', []],
    ['echo git add -A', all],
    ['git log --merges', all],
  ];
  for (const [command, left] of cases)
    assert.deepEqual(open(merged, ran(command, 'ok')), left, command);
});

test('a command that failed settles no conflict, and a rebase that goes on may meet another one', () => {
  const refused = ran(
    'git commit -m "Merge main"',
    'error: Committing is not possible\nexit code 1',
  );
  assert.deepEqual(open(merged, refused), ['src/a.ts', 'src/rows/b.ts', 'docs/old.md']);
  const next = 'CONFLICT (content): Merge conflict in src/c.ts';
  assert.deepEqual(open(merged, ran('git rebase --continue', next)), ['src/c.ts']);
});

test('conflicts of an earlier summary stay open', () => {
  const { conflicts = [] } = summaryOf(merged);
  const previous = { ...EMPTY_SUMMARY, conflicts };
  const now = summaryOf([...merged.slice(2), ...edited('/repo/src/a.ts')], previous).conflicts;
  assert.deepEqual(
    now?.map(({ path }) => path),
    ['src/a.ts', 'src/rows/b.ts', 'docs/old.md'],
  );
  assert.deepEqual(summaryOf(ran('git add -A', ''), previous).conflicts, []);
});
