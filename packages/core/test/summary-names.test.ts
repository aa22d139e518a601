import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@bobbin/core';
import { chars4, cleanExtract, renderSummary, type Node } from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

/** So many tokens are a long summary, and much less than the conversation. */
const [LONG, SHORT] = [3_000, 1_500];

/** A search whose result names much more than a summary can quote. */
function search(i: number): readonly Message[] {
  const find = call('search_code', { search_pattern: `handler_${i}`, maxResults: 90 });
  const names = Array.from({ length: 60 }, (_, k) => `src/area_${i}/part_${k}.ts: use_${i}_${k}()`);
  return [assistant(`I look for handler_${i}.`, find), result(find, names.join('\n'))];
}

function conversation(): readonly Node[] {
  const searches = Array.from({ length: 40 }, (_, i) => search(i)).flat();
  return thread(user('Find out who calls the handlers.'), ...searches).path();
}

function summaryWithin(maxTokens: number): ReturnType<typeof cleanExtract> {
  return cleanExtract({
    nodes: conversation(),
    previous: null,
    task: null,
    round: 1,
    maxTokens,
    counter: chars4(),
  });
}

test('a long summary ends with names that nothing else in it shows, and none of them is a name of a tool', () => {
  const summary = summaryWithin(LONG);
  const text = renderSummary(summary);
  const { names = [] } = summary;
  assert.ok(names.length >= 10, `${names.length} names`);
  assert.ok(text.endsWith(`## Also Named\n${names.join(', ')}`), text.slice(-300));
  const [rest = ''] = text.split('## Also Named');
  assert.deepEqual(
    names.filter((name) => rest.split(/[^\w./-]+/).includes(name)),
    [],
  );
  for (const name of ['search_code', 'search_pattern', 'maxResults'])
    assert.ok(!names.includes(name), name);
});

/** The names of a summary of searches, after one result that says something in its own way. */
function namesAfter(text: string, meta: Message['meta'] = {}): readonly string[] {
  const show = call('show_settings', {});
  const shown: Message = { ...result(show, text), meta };
  const searches = Array.from({ length: 40 }, (_, i) => search(i)).flat();
  const nodes = thread(
    user('Find out who calls the handlers.'),
    ...searches,
    assistant('I look at the settings.', show),
    shown,
    ...search(41),
  ).path();
  const request = { nodes, previous: null, task: null, round: 1, maxTokens: LONG };
  return cleanExtract({ ...request, counter: chars4() }).names ?? [];
}

const SETTINGS = Array.from(
  { length: 40 },
  (_, i) =>
    `key_of_setting_${i} is what the handlers of area ${i} look up when nobody has given them any other word`,
).join('\n');

test('a name that is a secret by what is next to it is not named', () => {
  const secrets = ['adm1n_pass9', 'spoken_pw_12'];
  const text = `curl -u admin:adm1n_pass9 https://a.test\npassword: spoken_pw_12\n${SETTINGS}`;
  const names = namesAfter(text);
  assert.ok(names.length > 0);
  assert.deepEqual(
    names.filter((name) => secrets.some((secret) => name.includes(secret))),
    [],
  );
});

const isOfSettings = (name: string): boolean => name.includes('key_');

test('E4 what only a result says that may expire is not named', () => {
  assert.ok(namesAfter(SETTINGS).some(isOfSettings));
  assert.ok(!namesAfter(SETTINGS, { time: 1 }).some(isOfSettings));
});

test('a short summary has no list of names', () => {
  assert.deepEqual(summaryWithin(SHORT).names, []);
});

test('the next round names what the round before named, if little was added', () => {
  const previous = summaryWithin(LONG);
  const next = cleanExtract({
    nodes: thread(user('Go on.'), assistant('I go on with the handlers.')).path(),
    previous,
    task: null,
    round: 2,
    maxTokens: LONG,
    counter: chars4(),
  });
  const text = renderSummary(next);
  const kept = (previous.names ?? []).filter((name) => text.includes(name));
  assert.deepEqual(kept, previous.names);
});
