import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inventory, Wording, type AuditItem } from '@bobbin/core/internal';
import { assistant, round, user } from '@bobbin/testing';

const short = (messages: Parameters<typeof inventory>[0]): readonly string[] =>
  inventory(messages).map(({ class: kind, text, at }) => `${kind} m${at} ${text}`);

test('an inventory has what matters, each once and where it was said last', () => {
  const pasted = Array.from({ length: 30 }, (_, i) => `[info] id=${1000 + i} at=/var/log/${i}.log`);
  const messages = [
    user('Never use port 8080. Look at src/a.ts for issue #4711.'),
    assistant('We decided to keep the parser because it is fast. See #4711.'),
    user(`Here is the log, a long one:\n${pasted.join('\n')}`),
    user('You may use port 8080 now.'),
    ...round('edit', { path: 'src/b.ts', new_str: 'x' }, 'done'),
    ...round('bash', { command: 'npm test && git commit -m x' }, 'ok'),
    ...round('bash', { command: 'npm test' }, 'ok'),
  ];
  assert.deepEqual(short(messages), [
    'rule m3 You may use port 8080 now.',
    'decision m1 We decided to keep the parser because it is fast.',
    'path m4 src/b.ts',
    'path m0 src/a.ts',
    'command m8 npm test',
    'number m1 #4711',
    'number m3 8080',
  ]);
});

const item = (kind: AuditItem['class'], text: string, own: Partial<AuditItem> = {}): AuditItem => ({
  class: kind,
  text,
  by: 'user',
  at: 0,
  ...own,
});

test('one matcher: exact strings, most words of one sentence, or nothing', () => {
  const wording = Wording.of([
    user('The user insists: **never change the public API**. Ran `npm run e2e -- --all`.'),
    user('Files: `src/net/client.ts`, server.ts. Ticket NET-4711, port 18443, 12.'),
  ]);
  const cases: readonly (readonly [AuditItem, string])[] = [
    [item('rule', 'Never change the public API!'), 'exact'],
    [item('rule', 'The API that is public must never be changed by anyone'), 'alike'],
    [item('rule', 'Never change the build'), 'absent'],
    [item('path', '/home/me/src/net/client.ts'), 'exact'],
    [item('path', 'src/net/server.ts'), 'alike'],
    [item('path', 'src/net'), 'exact'],
    [item('path', 'lib/net'), 'absent'],
    [item('number', 'NET-4711'), 'exact'],
    [item('number', '8443'), 'absent'],
    [item('command', 'npm run e2e -- --all', { kind: 'npm run e2e' }), 'exact'],
    [item('command', 'npm run e2e 2>&1 | tail', { kind: 'npm run e2e' }), 'alike'],
    [item('command', 'npm run', { kind: 'npm ru' }), 'exact'],
    [item('command', 'go vet ./...', { kind: 'go vet' }), 'absent'],
  ];
  assert.deepEqual(
    cases.map(([one]) => [one.text, wording.holds(one)]),
    cases.map(([one, presence]) => [one.text, presence]),
  );
});
