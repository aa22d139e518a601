import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { test } from 'node:test';
import { volume } from '@bobbin/testing/volume';

/** Counting starts before the engine is loaded: code that was compiled earlier has no counters. */
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
// Core asks the runtime for its digest: without one, its own is counted.
Object.defineProperty(process, 'getBuiltinModule', { value: undefined });
const { createBobbin, memoryArtifacts } = await import('@bobbin/core');
const { assistant, call, result, user } = await import('@bobbin/testing');

interface Work {
  /** Blocks of 64 bytes. */
  readonly hashed: number;
  /** Characters whose tokens were counted. */
  readonly counted: number;
  /** Blocks of code that ran for everything else. */
  readonly other: number;
}

/** What core did since the last count. */
async function workDone(): Promise<Work> {
  const { result: scripts } = await inspector.post('Profiler.takePreciseCoverage');
  let [hashed, counted, other] = [0, 0, 0];
  for (const { url, functions } of scripts.filter((script) => script.url.includes('/core/src/')))
    for (const { functionName, ranges } of functions) {
      const blocks = ranges.reduce((sum, { count }) => sum + count, 0);
      if (url.endsWith('/sha256.ts'))
        hashed += functionName === 'absorb' ? (ranges[0]?.count ?? 0) : 0;
      else if (url.endsWith('/runs.ts')) counted += blocks;
      else other += blocks;
    }
  return { hashed, counted, other };
}

/** The work for the prompt that follows a result. */
async function work(text: string): Promise<Work> {
  const bobbin = createBobbin({ window: 200_000, artifacts: memoryArtifacts(), onEvent() {} });
  const asked = call('list', {});
  await workDone();
  const { fits } = await bobbin.fit([user('List all.'), assistant(asked), result(asked, text)]);
  assert.ok(fits);
  return workDone();
}

/** Lines that no text repeats: the worst that a reader of names can meet. */
const unique = (chars: number, line: (id: string, at: number) => string): string =>
  Array.from({ length: Math.ceil(chars / line('0'.repeat(24), 0).length) }, (_, i) =>
    line(createHash('md5').update(`${i}`).digest('hex').slice(0, 24), i),
  ).join('');

const RESULTS: Readonly<Record<string, (chars: number) => string>> = {
  'unique ids': (chars) => unique(chars, (id) => `${id}\n`),
  'ids in one line': (chars) => unique(chars, (id) => `${id} `),
  'errors in files': (chars) =>
    unique(chars, (id) => `/src/${id.slice(0, 6)}.ts:12: error E${id.slice(6, 9)}\n`),
  'a file with numbered lines': (chars) => unique(chars, (id, at) => `${at}\t${id}\n`),
  'JSON in one line': (chars) => `[${unique(chars, (id, at) => `{"id":"${id}","n":${at}},`)}0]`,
  'empty lines': (chars) => '\n'.repeat(chars),
};

/** A few tens of milliseconds. */
const MOST_OTHER = 7_000_000;
const MOST_TRIED = 8_000_000;

const SOME = Object.entries(RESULTS).filter((_, i) => i % volume(3, 1) === 0);

for (const [name, make] of SOME)
  test(`14.20 a result of ${name} is hashed once and counted once; other work has a bound`, async () => {
    const text = make(3_000_000);
    const { hashed, counted, other } = await work(text);
    assert.ok(hashed > text.length / 64 && hashed < text.length / 50, `hashed: ${hashed}`);
    assert.ok(counted >= text.length && counted < text.length + MOST_TRIED, `counted: ${counted}`);
    assert.ok(other < MOST_OTHER, `other: ${other}`);
  });
