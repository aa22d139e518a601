import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import { cleanExtract, extract, renderSummary } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

const EDIT = call('Edit', { file_path: '/repo/a.ts', old_string: 'a\nb', new_string: 'a\nc' });
const block = (name: string): string =>
  `const widths = measure(table);\nfor (const column of table.columns) pad(column, widths);\nprint(${name});\nlog(${name});`;
const ASKED = [
  user('Look at the printer.'),
  assistant('It is slow. Shall I cache the widths?'),
  user('yes'),
];

function extracted(messages: readonly Message[], task: string | null = null): Summary {
  return extract({ nodes: thread(...messages).path(), previous: null, task, round: 1 });
}

test('C6 what was asked last is known, with the question that it answers and what was changed for it', () => {
  const request = {
    text: 'yes',
    at: 2,
    answers: 'answers “It is slow. Shall I cache the widths?”',
  };
  assert.deepEqual(extracted(ASKED).request, request);
  const during = extracted([...ASKED, assistant('', EDIT), result(EDIT, 'ok')]);
  assert.deepEqual(during.request, request);
  assert.match(
    renderSummary(during),
    /\n## State at m5\n- Changed for the request in m3: a\.ts\n\n## Open Work at m5\n- Last request \[m3\], in progress: “yes” \(answers “It is slow. Shall I cache the widths\?”\)$/,
  );
  const after = extracted([
    ...ASKED,
    assistant('', EDIT),
    result(EDIT, 'ok'),
    assistant('The widths are cached.'),
  ]);
  assert.deepEqual(after.request, { ...request, reportedAt: 5 });
  assert.match(renderSummary(after), /\n- Last request \[m3\], reported on in m6: “yes” /);
});

test('C6 what was asked last is carried to the next summary', () => {
  const messages = [...ASKED, assistant('', EDIT), result(EDIT, 'ok')];
  const { request, ...rest } = extracted(messages);
  const nodes = thread(...messages, assistant('', EDIT), result(EDIT, 'ok'))
    .path()
    .slice(5);
  const previous = { ...rest, ...(request === undefined ? {} : { request }) };
  assert.deepEqual(extract({ nodes, previous, task: null, round: 2 }).request, request);
});

test('the task and the first request are not what was asked last; of a long one two sentences are shown', () => {
  assert.equal(extracted([user('Look.'), assistant('Yes.')]).request, undefined);
  const again = [user('Look.'), assistant('Yes.'), user('Widen the table.')];
  assert.equal(extracted(again, 'Widen the table.').request, undefined);
  const long = `The table is too narrow. ${'It has many columns. '.repeat(20)}Widen it.`;
  assert.deepEqual(extracted([user('Look.'), assistant('Yes.'), user(long)]).request, {
    text: 'The table is too narrow. … Widen it.',
    at: 2,
  });
});

test('of edits that put nearly the same lines into files, the newest is shown', () => {
  const rounds = ['first', 'second'].flatMap((name) => {
    const edit = call('Edit', {
      file_path: `/repo/${name}.ts`,
      old_string: 'x',
      new_string: block(name),
    });
    return [assistant('', edit), result(edit, 'ok')];
  });
  const notes = extracted([user('Go.'), ...rounds]).notes.filter(
    ({ source }) => source !== undefined,
  );
  assert.deepEqual(
    notes.map(({ source }) => source),
    ['/repo/second.ts'],
  );
});

test('what was asked last, and the question before it, are cut only after secrets are gone', () => {
  const token = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiI0MiIsIm5hbWUiOiJBIn0', 'c2lnbmF0dXJl'].join(
    '.',
  );
  const long = `Send this with each request to the service of the shop, please: ${token}. ${'It is slow. '.repeat(20)}Go.`;
  const asked = cleanExtract({
    nodes: thread(user('Look.'), assistant('Yes.'), user(long)).path(),
    previous: null,
    task: null,
    round: 1,
  });
  assert.deepEqual(asked.request, {
    text: 'Send this with each request to the service of the shop, please: [redacted]. … Go.',
    at: 2,
  });
  const question = `Shall I send this with each request to the service of the shop: ${token}?`;
  const answered = cleanExtract({
    nodes: thread(user('Look.'), assistant(question), user('yes')).path(),
    previous: null,
    task: null,
    round: 1,
  });
  assert.equal(
    answered.request?.answers,
    'answers “Shall I send this with each request to the service of the shop: [redacted]?”',
  );
});

test('a carried request is reported on by a later message', () => {
  const nodes = thread(
    ...ASKED,
    assistant('', EDIT),
    result(EDIT, 'ok'),
    assistant('Done so.'),
  ).path();
  const previous = extract({ nodes: nodes.slice(0, 5), previous: null, task: null, round: 1 });
  assert.deepEqual(extract({ nodes: nodes.slice(5), previous, task: null, round: 2 }).request, {
    text: 'yes',
    at: 2,
    answers: 'answers “It is slow. Shall I cache the widths?”',
    reportedAt: 5,
  });
});

test('work after a report takes the report back; a request that the prompt shows is not shown again', () => {
  const work = [assistant('I edit it.', EDIT), result(EDIT, 'ok')];
  const nodes = thread(...ASKED, assistant('Cached.'), ...work).path();
  const request = {
    text: 'yes',
    at: 2,
    answers: 'answers “It is slow. Shall I cache the widths?”',
  };
  const now = extract({ nodes, previous: null, task: null, round: 1 });
  assert.deepEqual(now.request, request);
  const kept = nodes.slice(2).map((node) => ({ node, shown: node.message }));
  const shown = extract({ nodes: nodes.slice(0, 2), kept, previous: null, task: null, round: 1 });
  assert.deepEqual(shown.request, { ...request, isShown: true });
  assert.match(renderSummary(shown), /\n- Changed for the request in m3: a\.ts/);
  assert.doesNotMatch(renderSummary(shown), /Last request/);
  const later = extract({ nodes: nodes.slice(4), previous: shown, task: null, round: 2 });
  assert.deepEqual(later.request, request);
  const part = kept.map(({ node }) => ({ node, shown: user('y…') }));
  assert.deepEqual(
    extract({ nodes: nodes.slice(0, 2), kept: part, previous: null, task: null, round: 1 }).request,
    request,
  );
});

test('an older request that stays in the prompt is not what was asked last', () => {
  const messages = [...ASKED, assistant('The widths are cached.'), user('Widen the table.')];
  const path = thread(...messages, assistant('', EDIT), result(EDIT, 'ok')).path();
  const previous = extract({ nodes: path.slice(0, 5), previous: null, task: null, round: 1 });
  const kept = path.slice(2, 3).map((node) => ({ node, shown: node.message }));
  const next = extract({ nodes: path.slice(5), kept, previous, task: null, round: 2 });
  assert.deepEqual(next.request, { text: 'Widen the table.', at: 4 });
});

test('an answer that says nothing is no report', () => {
  const { request } = extracted([...ASKED, assistant('No response requested.')]);
  assert.equal(request?.reportedAt, undefined);
});
