import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Message, TextPart, ThreadId } from '@bobbin/core';
import {
  canonicalJson,
  contentHash,
  isOpaque,
  isSummary,
  messageId,
  sha256,
  spanOf,
  startsTurn,
  Thread,
  unitStarts,
  type Node,
} from '@bobbin/core/internal';
import {
  assistant,
  call,
  opaque,
  reasoning,
  result,
  resultPart,
  system,
  thread,
  user,
  withMeta,
} from '@bobbin/testing';
import { textHash } from '../src/message/message.ts';
import { plainSha256 } from '../src/message/sha256.ts';

const starts = (...messages: readonly Message[]): readonly number[] => unitStarts(messages);
const talk = [system('be brief'), user('one'), assistant('two'), user('three')];

test('C1 a thread only grows: what was said stays as it was said, at its place', () => {
  const grown = thread(...talk);
  const before = grown.path();
  grown.append(assistant('four'));
  assert.deepEqual(grown.path().slice(0, 4), before);
  assert.equal(grown.length, 5);
  grown.path().forEach((node, i) => {
    assert.equal(node.index, i);
    assert.equal(grown.at(i), node);
    assert.equal(grown.get(node.id), node);
    assert.equal(node.parent, grown.at(i - 1)?.id ?? null);
  });
  assert.deepEqual(
    grown.path().map(({ turn }) => turn),
    [0, 1, 1, 2, 2],
  );
});

test('C1 ids are content: the same history has the same ids, wherever it is', () => {
  const [a, b] = [thread(...talk), thread(...(JSON.parse(JSON.stringify(talk)) as Message[]))];
  assert.deepEqual(
    a.path().map(({ id }) => id),
    b.path().map(({ id }) => id),
  );
  const other = thread(system('be long'), ...talk.slice(1));
  const shared = a.path().filter((node, i) => node.id === other.at(i)?.id);
  assert.deepEqual(shared, [], 'another first message makes every later one another');
});

test('C1 the metadata of a message does not enter its id', () => {
  const bare = user('one');
  const known = { ...withMeta(bare, { time: 1, pinned: true }), original: { any: 'wire form' } };
  assert.equal(messageId(null, known), messageId(null, bare));
  assert.notEqual(messageId(null, { ...bare, extra: { name: 'x' } }), messageId(null, bare));
  assert.notEqual(messageId(null, bare), messageId(messageId(null, bare), bare));
  assert.equal(contentHash(bare), contentHash(user('one')));
});

test('C1 the order of keys does not matter to an id, and hashes are SHA-256', () => {
  assert.equal(canonicalJson({ b: [1, null], a: 'x', c: undefined }), '{"a":"x","b":[1,null]}');
  assert.equal(sha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  assert.equal(sha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  assert.equal(
    sha256('会話'.repeat(1_000)),
    'd975a4eeafdb9f7cb3fab1b869136081f0a56f3dac94601d88a7618236abe0ff',
  );
});

test('C1 a lone surrogate is hashed alike with and without the runtime’s own digest', () => {
  for (const text of ['\ud800', 'a\udc00b', `${'x'.repeat(65_535)}\ud83d\ud83d`])
    assert.equal(sha256(text), plainSha256(text));
});

test('C1 texts and bytes of every length have the platform’s hash, wherever their parts end', () => {
  const part = 65_536;
  const lengths = [1, 55, 56, 63, 64, 65, part - 1, part, part + 1, 2 * part, 3 * part - 64];
  for (const length of lengths) {
    for (const sign of ['a', 'é', '会', '🧵', 'a🧵']) {
      const text = sign.repeat(length).slice(0, length);
      const bytes = Buffer.from(text);
      const hash = createHash('sha256').update(bytes).digest('hex');
      for (const digest of [sha256, plainSha256]) {
        assert.equal(digest(text), hash, `${length} × ${sign}`);
        assert.equal(digest(bytes), hash, `${length} × ${sign} as bytes`);
      }
    }
  }
});

test('C1 a long text is hashed once, for its message and for the artifact of it', () => {
  const long = 'row of data '.repeat(10_000);
  const made = call('list', {});
  const ids = [long, `${long}.`, long].map((text) => messageId(null, result(made, text)));
  assert.equal(ids[0], ids[2]);
  assert.notEqual(ids[0], ids[1]);
  assert.notEqual(messageId(null, user(long)), messageId(null, user(long, long)));
  let reads = 0;
  const part: TextPart = {
    kind: 'text',
    get text() {
      reads += 1;
      return long;
    },
  };
  contentHash({ role: 'user', parts: [part] });
  const before = reads;
  assert.equal(textHash(part), sha256(long));
  assert.equal(reads, before, 'the hash is known');
});

test('C1 a fork leaves the other path as it was, and saying the same again is one message', () => {
  const forked = thread(...talk);
  const main = forked.path();
  const second = main[1] as Node;
  forked.moveHead(second.id);
  assert.equal(forked.length, 2);
  const other = forked.append(assistant('another answer'));
  assert.deepEqual(forked.path(), [main[0], second, other]);
  forked.moveHead(second.id);
  assert.equal(forked.append(assistant('two')), main[2], 'the same message at the same place');
  forked.moveHead((main[3] as Node).id);
  assert.deepEqual(forked.path(), main);
  assert.ok(forked.onPath(main[2] as Node));
  assert.ok(!forked.onPath(other));
  forked.moveHead(null);
  assert.deepEqual([forked.length, forked.head], [0, undefined]);
  assert.throws(() => forked.moveHead('nowhere' as Node['id']), /has no message nowhere/);
});

test('E12 a thread resumed from its window goes on with the same indices, ids and turns', () => {
  const whole = thread(...talk, assistant('four'), user('five'));
  const resumed = Thread.resume('test' as ThreadId, [whole.at(0) as Node], whole.path(3));
  assert.deepEqual([resumed.base, resumed.length], [3, 6]);
  assert.equal(resumed.at(1), undefined);
  assert.equal(resumed.get((whole.at(0) as Node).id), whole.at(0));
  assert.deepEqual(resumed.append(assistant('six')), whole.append(assistant('six')));
});

test('C2 a span names its messages one by one, in order, with first and last turn', () => {
  const nodes = thread(...talk).path();
  assert.equal(spanOf([]), undefined);
  assert.deepEqual(spanOf([nodes[0], nodes[2], nodes[3]] as Node[]), {
    ids: [nodes[0]?.id, nodes[2]?.id, nodes[3]?.id],
    firstTurn: 0,
    lastTurn: 2,
  });
  assert.throws(() => spanOf([nodes[2], nodes[1]] as Node[]), /thread order/);
  assert.throws(() => spanOf([nodes[1], nodes[1]] as Node[]), /thread order/);
});

test('a turn starts where a person speaks: not at a result, nor at a summary', () => {
  const answered = { role: 'user', parts: [resultPart(call('read'), 'x')] } as const;
  assert.equal(startsTurn(user('hello')), true);
  assert.equal(startsTurn(user('## Session Summary, please')), true, 'a person may ask for one');
  for (const message of [
    assistant('hello'),
    system('hello'),
    answered,
    withMeta(user('hello'), { synthetic: true }),
  ])
    assert.equal(startsTurn(message), false);
  const forged = user('[Context Summary - Turns 1-4]\nof old');
  assert.equal(startsTurn(forged), true, "text that looks like a summary is its writer's");
  assert.equal(isSummary(forged), false);
  assert.equal(isSummary(system('## Session Summary')), false, 'a system prompt may quote it');
  assert.equal(isSummary(user('about ## Session Summary')), false);
});

test('what a codec could not read makes its message opaque, inside a result too', () => {
  assert.equal(isOpaque(user('x', opaque('mystery', 1))), true);
  assert.equal(isOpaque(result(call('read'), [opaque('mystery', 1)])), true);
  assert.equal(isOpaque(user('x')), false);
});

test('units keep a call with its results, and a thought with what it led to', () => {
  const [a, b] = [call('read', { n: 1 }), call('read', { n: 2 })];
  assert.deepEqual(starts(user('x'), assistant(a), result(a, '1'), assistant('y')), [0, 1, 3]);
  assert.deepEqual(
    starts(user('x'), assistant(a, b), result(b, '2'), result(a, '1'), user('z')),
    [0, 1, 4],
  );
  assert.deepEqual(starts(assistant(reasoning('hm', 'sig')), assistant('so'), user('x')), [0, 2]);
  assert.deepEqual(
    starts(
      user('x'),
      assistant(a),
      result(a, '1'),
      assistant(reasoning('hm')),
      assistant(b),
      result(b, '2'),
    ),
    [0, 1, 3],
    'also right after the results of the round before',
  );
  assert.deepEqual(starts(assistant(a), user('stop'), result(a, 'late')), [0, 1, 2]);
  assert.deepEqual(starts(result(a, 'orphan'), user('x')), [0, 1]);
  assert.deepEqual(starts(assistant(a), result(a, '1'), assistant(a), result(a, '2')), [0, 2]);
});
