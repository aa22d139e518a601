import assert from 'node:assert/strict';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { folderArtifacts } from '@bobbin/stores/artifacts';
import type { ThreadId } from '@bobbin/core';
import { isSoak } from '@bobbin/testing/volume';
import { readText } from '../src/input/text-stream.ts';
import { bobbin, bobbinOnTerminal, folder, here } from './run.ts';

const STEERING = '\u001B]0;title\u0007\u001B[2J\u009B1A\u202Egnp.exe\u2066x\u200F';
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const STEERS = /\u001B(?!\[[\d;]*m)|[\u0007\u009B\u202E\u2066\u200F]/u;

test('artifact steers no terminal; a pipe gets every byte', async (t) => {
  const home = folder(t);
  const content = `before ${STEERING} after\n\tindented\n`;
  const id = await folderArtifacts(join(home, 'a')).put(content, {
    tenant: 'default',
    thread: 't' as ThreadId,
    createdAt: 0,
    mediaType: 'text/plain',
    sensitivity: 'internal',
  });
  const { status, written } = await bobbinOnTerminal(['artifact', 'a', id], { cwd: home });
  assert.equal(status, 0);
  assert.doesNotMatch(written, STEERS);
  assert.match(written, /before \\u\{1b\}\]0;title\\u\{7\}.*\\u\{202e\}gnp\.exe.* after\r\n/);
  assert.equal((await bobbin(['artifact', 'a', id], { cwd: home })).stdout, content);
});

test('inspect steers no terminal with the names, the model or the texts of a file', async (t) => {
  const home = folder(t);
  const messages = [
    { role: 'user', content: `hello ${STEERING}` },
    { role: 'assistant', content: `answer ${STEERING}` },
  ];
  const name = 's\u001B[2J\u202E.json';
  writeFileSync(join(home, name), JSON.stringify({ model: `m${STEERING}`, messages }));
  const { status, written } = await bobbinOnTerminal(['inspect', name], { cwd: home });
  assert.equal(status, 0);
  assert.match(written, /hello/);
  assert.doesNotMatch(written, STEERS);
});

test('what is said of a bad file steers no terminal either', async (t) => {
  const home = folder(t);
  const { status, stderr } = await bobbin(['inspect', 'no\u001B[2J\u202E.json'], { cwd: home });
  assert.deepEqual(
    [status, stderr],
    [2, 'bobbin: no\\u{1b}[2J\\u{202e}.json: no such file or directory\n'],
  );
});

const TOO_LARGE =
  'is larger than 512 MB, the most that one conversation may have: split it, or give one conversation a line with compact --jsonl';

/** Without an end of a line, all that one may have is read before it is refused. */
const SLOW = isSoak() ? [['compact', '--jsonl']] : [];

for (const args of [['inspect'], ['compact'], ['import'], ...SLOW])
  test(`a file that is larger than a string can be is refused in one line: ${args.join(' ')}`, async (t) => {
    const home = folder(t);
    writeFileSync(join(home, 'large.json'), '');
    truncateSync(join(home, 'large.json'), 600 * 1_048_576);
    const { status, stdout, stderr } = await here([...args, 'large.json'], { cwd: home });
    assert.deepEqual(
      { status, stdout, stderr },
      { status: 2, stdout: '', stderr: `bobbin: large.json: ${TOO_LARGE}\n` },
    );
  });

/** A stream that never ends and has no size, as a pipe. */
class Endless {
  readonly name = 'stdin';
  chunks = 0;

  *#content(): Generator<Buffer> {
    const chunk = Buffer.alloc(64 * 1_048_576);
    for (;;) {
      this.chunks += 1;
      yield chunk;
    }
  }

  open(): Readable {
    return Readable.from(this.#content());
  }

  stats(): never {
    throw new Error(`${this.name} has no size`);
  }
}

test('a stream without a size is refused as soon as it is too large', async () => {
  const endless = new Endless();
  await assert.rejects(readText(endless), { message: `stdin: ${TOO_LARGE}` });
  assert.ok(endless.chunks <= 26, `${endless.chunks} chunks of 64 MB were read`);
});
