import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assistant, call, result, user } from '@bobbin/testing';
import { linesChecked } from './verified-session.ts';

test('what is denied of a subject is denied of it in other words too, unless it depends on a condition', () => {
  const plan = call('write', {
    path: 'plan.md',
    text: 'Failures of the cache do not stop the job.',
  });
  const session = [
    user('Work.'),
    assistant('The job never waits — its flag is read when the queue starts.', plan),
    result(plan, 'ok: the printer never sleeps'),
    assistant('If the queue is empty the writer never stops. I write the failing test first.'),
  ];
  const prose = [
    'A long run of the whole queue showed that the job always waits.',
    'Failures of the cache do stop the job.',
    'The printer always sleeps.',
    'The writer of the queue always stops.',
    'The order was: a passing test first.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m2: “never waits”]`,
    `${prose[1]} [m2: “of the cache do not stop the job”]`,
    ...prose.slice(2, 4),
    `${prose[4]} [m4: “failing test”]`,
  ]);
});

test('code and errors that an account repeats with another word are doubted; a template is no other number', () => {
  const edit = call('edit', {
    path: 'a.go',
    text: 'return wrap("failed to read the line: %w", err)',
  });
  const run = call('bash', { command: 'go test' });
  const read = call('read', { path: 'a_test.go' });
  const session = [
    user('Work.'),
    assistant('Change.', edit, run, read),
    result(edit, 'ok'),
    result(
      run,
      'a_test.go:3: wanted 2 points of the line, got 0\nFAIL: cannot open the file of the line',
    ),
    result(read, 'Fatalf("wanted at least 2 points of the line, got %d")'),
  ];
  const prose = [
    'It returns `wrap("passed to read the line: %w", err)` now.',
    'The error was "FAIL: can open the file of the line".',
    'The test says "wanted at least 2 points of the line, got 1".',
    'The tests are passing: `wanted 2 points of the line, got 0`.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    `${prose[0]} [m2: “a.go","text":"return wrap("failed to read the line”]`,
    `${prose[1]} [m4: “FAIL: cannot open the file of”]`,
    prose[2],
    `${prose[3]} [m4: “wanted 2 points of the line, got 0”]`,
  ]);
});

test('a quotation is held against its own statement, a step against the files that there are', () => {
  const session = [
    user('Was that a comment that we don’t show the old drafts of a page? I saw src/explain.ts.'),
    assistant('We do show the old drafts. The limit of the page must be 12 lines of text.'),
  ];
  const prose = [
    'The user: "Was that a comment that we do show the old drafts of a page?"',
    'Read src/renamed-explain.ts for the callers.',
    'Add src/other-explain.ts for the callers.',
    'The limit of the page must be 21 lines of text.',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    'The user: "Was that a comment that we don’t show the old drafts of a page?"',
    `${prose[1]} [not in the messages: src/renamed-explain.ts]`,
    prose[2],
    `${prose[3]} [m2: “the page must be 12 lines of text”]`,
  ]);
});

test('a number is doubted where another one is beside the same word; a line of a file only by a line', () => {
  const look = call('grep', { pattern: 'parse' });
  const session = [
    user('The printer shows 38 commits of the old branch. Move the limit to line 235'),
    assistant('Look.', look),
    result(look, '620:\tparsed := parseTokens(allTokens)\n12 hours\nthe printer of 63'),
  ];
  const prose = [
    'Line 620: `parsed := parseTokens(allTokens)`',
    'Line 963: `parsed := parseTokens(allTokens)`',
    'The printer showed 63 commits of the old branch (should be 1).',
    '`parsed := parseTokens(allTokens)` (line 36)',
    'Step 12: `parsed := parseTokens(allTokens)`',
    'The user: "Move the limit to line 532"',
  ];
  assert.deepEqual(linesChecked(prose, session), [
    prose[0],
    `${prose[1]} [m3: “620:\tparsed”]`,
    `${prose[2]} [m1: “shows 38”]`,
    `${prose[3]} [m3: “620:\tparsed := parseTokens”]`,
    prose[4],
    'The user: "Move the limit to line 235"',
  ]);
});
