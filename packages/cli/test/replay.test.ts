import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chars4 } from '@bobbin/core/internal';
import { assistant, round, user } from '@bobbin/testing';
import { Bill, requestsIn } from '../src/replay/bill.ts';
import { clearResults, dropOldest } from '../src/replay/methods.ts';
import { here } from './run.ts';

const counter = chars4();
const prices = { read: 0.1, write: 1.25 };

/** A message of a number of tokens as four characters are one; its role counts two. */
const sized = (name: string, tokens: number) => user(name.padEnd((tokens - 2) * 4, '.'));

test('a bill reads the common beginning from the cache and writes all else', () => {
  const bill = new Bill(prices, counter);
  const [a, b, c] = [sized('a', 100), sized('b', 50), sized('c', 30)];
  bill.add([a]);
  bill.add([a, b]);
  bill.add([a, b, c]);
  const figures = [bill.total, bill.rewrites, bill.rewrittenTokens, bill.sizes];
  assert.deepEqual(figures, [(100 + 150) * 0.1 + 180 * 1.25, 0, 0, [100, 150, 180]]);
});

test('a bill shows what was written again because something before it changed', () => {
  const bill = new Bill(prices, counter);
  const [a, b, c] = [sized('a', 100), sized('b', 50), sized('c', 30)];
  bill.add([a, b, c]);
  bill.add([a, sized('short', 10), c]);
  const figures = [bill.total, bill.rewrites, bill.rewrittenTokens];
  assert.deepEqual(figures, [100 * 0.1 + (180 + 40) * 1.25, 1, 30]);
});

test('a request precedes every answer, and one follows the last message', () => {
  const talk = [user('go'), ...round('read', { path: '/a' }, 'text'), assistant('done'), user('?')];
  assert.deepEqual(requestsIn(talk), [1, 3, 5]);
});

test('the plain methods keep to their limit', async () => {
  const talk = [user('go'), ...Array.from({ length: 9 }, (_, i) => sized(`m${i}`, 100))];
  const dropped = await dropOldest(counter, 500)(talk);
  assert.deepEqual(dropped, [talk[0], ...talk.slice(-2)]);
  const rounds = Array.from({ length: 5 }, (_, i) => round('read', { i }, 'x'.repeat(400))).flat();
  const cleared = await clearResults(counter, 300)([user('go'), ...rounds]);
  const results = cleared.flatMap(({ parts }) => parts).filter(({ kind }) => kind === 'result');
  assert.deepEqual(
    results.map(
      (part) =>
        part.kind === 'result' && part.content[0]?.kind === 'text' && part.content[0].text.length,
    ),
    [9, 9, 400, 400, 400],
  );
});

test('replay prints what a session would have cost under each policy', async () => {
  const messages = [{ role: 'user', content: 'Read every file.' }] as object[];
  for (let i = 0; i < 80; i++)
    messages.push(
      {
        role: 'assistant',
        content: `Reading ${i}.`,
        tool_calls: [
          {
            id: `c${i}`,
            type: 'function',
            function: { name: 'read', arguments: `{"path":"/src/f${i}.ts"}` },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: `c${i}`,
        content: `export const value${i} = ${i};\n`.repeat(120),
      },
    );
  const { status, stdout, stderr } = await here(['replay', '--counter', 'chars4'], {
    stdin: JSON.stringify(messages),
  });
  assert.deepEqual([status, stderr], [0, '']);
  const share = (name: string): number =>
    Number(new RegExp(`^ {2}${name} +\\S+ +(\\S+)`, 'm').exec(stdout)?.[1]);
  assert.equal(share('full history'), 1);
  assert.ok(
    share('ladder frugal') < share('ladder careful') && share('ladder careful') < 0.8,
    stdout,
  );
  assert.match(stdout, /▁/);
});

test('replay names a price that is none', async () => {
  const { status, stderr } = await here(['replay', '--read', 'cheap'], { stdin: '[]' });
  assert.deepEqual(
    [status, stderr],
    [2, 'bobbin: --read must be a number of at least 0, not "cheap"; see bobbin replay --help\n'],
  );
});
