import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Summary } from '@bobbin/core';
import { EMPTY_SUMMARY, extractSummarizer, refusal } from '@bobbin/core/internal';
import { thread, user } from '@bobbin/testing';

const REQUEST = {
  nodes: thread(user('Fix the parser.')).path(),
  previous: null,
  task: 'Fix the parser.',
  round: 1,
  overlap: [],
  maxTokens: 400,
};
const withProse = (prose: string): Summary => ({ ...EMPTY_SUMMARY, prose });

test('D9 never stored: a blank, an error text, a refusal, something inflated or off its schema', () => {
  const { schema: _, ...unversioned } = withProse('x');
  const cases: readonly (readonly [Summary, RegExp])[] = [
    [EMPTY_SUMMARY, /blank/],
    [withProse('  \n'), /blank/],
    [withProse('Error: 529 overloaded'), /an error or a refusal/],
    [withProse('{"type":"error","error":{"type":"overloaded_error"}}'), /an error or a refusal/],
    [withProse('<html><body>502 Bad Gateway</body></html>'), /an error or a refusal/],
    [withProse("I'm sorry, but I can't help with that."), /an error or a refusal/],
    [withProse('I cannot assist with this request.'), /an error or a refusal/],
    [withProse('again and again '.repeat(500)), /inflated: 7999 characters for 15/],
    [unversioned as Summary, /off its schema: schema is not 2/],
    [{ ...withProse('x'), items: null as never }, /off its schema: items is no list/],
    [{ ...withProse('x'), prose: 7 as never }, /off its schema: prose is no text/],
    ['a text' as never, /off its schema: it is no object/],
    [null as never, /off its schema: it is no object/],
  ];
  for (const [summary, reason] of cases)
    assert.match(refusal(summary, REQUEST) ?? 'stored', reason);
});

test('stored: an account of errors, a short account of little, an extract', async () => {
  assert.equal(
    refusal(withProse('The build failed with error TS2304; it was fixed.'), REQUEST),
    undefined,
  );
  assert.equal(
    refusal(withProse('Errors in the parser are being fixed. '.repeat(20)), REQUEST),
    undefined,
  );
  assert.equal(refusal(await extractSummarizer.summarize(REQUEST), REQUEST), undefined);
});
