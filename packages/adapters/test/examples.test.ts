import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const FOLDER = new URL('../../../examples/', import.meta.url);
/** Files that examples start or import themselves, and the one that shows what happens without Bobbin. */
const PARTS = new Set(['workbench.ts', 'mcp-server.ts', 'ai-sdk-plain.ts']);

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with the scripted model. */
async function run(...args: readonly string[]): Promise<Printed> {
  const { OPENAI_API_KEY: _, ...env } = process.env;
  const condition = '--conditions=@bobbin/source';
  return promisify(execFile)(process.execPath, [condition, ...args], { env });
}

/** Runs examples one after the other, and prints a line before and after what each prints. */
const IN_TURN = `for (const url of process.argv.slice(1)) {
  console.log('begin ' + url);
  await import(url).catch(console.error);
  console.log('end ' + url);
}`;

const urlOf = (name: string): string => new URL(name, FOLDER).href;

let printed: Promise<Printed> | undefined;

/** What an example prints. One process runs all of them: it loads the packages once. */
async function printedBy(name: string): Promise<Printed> {
  const urls = Object.keys(SAID).map(urlOf);
  printed ??= run('--input-type=module', '--eval', IN_TURN, ...urls);
  const { stdout, stderr } = await printed;
  const [, rest = ''] = stdout.split(`begin ${urlOf(name)}\n`);
  return { stdout: rest.split(`end ${urlOf(name)}\n`)[0] ?? '', stderr };
}

/** What each example says of what it did. */
const SAID: Readonly<Record<string, RegExp>> = {
  'ai-sdk.ts':
    /^60 of 60 steps in a window of 10000 tokens, compacted [1-9]\d* times: DONE 60 steps as HERON-7731\n$/,
  'langchain.ts':
    /^60 of 60 steps in a window of 10000 tokens, compacted [1-9]\d* times: DONE 60 steps as HERON-7731; 122 messages are kept\n$/,
  'openai-agents.ts':
    /^60 of 60 steps in a window of 10000 tokens, compacted [1-9]\d* times: DONE 60 steps as HERON-7731\n$/,
  'mcp.ts':
    /^deploy: 82 messages; plan \d+ .*\n.* before, \d+ after\nreplaced by a summary \(round \d\): \d+ messages\n/,
  'opencode.ts': /^the session has 81 messages; the largest prompt had \d{5} characters\n$/,
  'pi.ts':
    /^\[Summary v\d+, round 1\]\n(?:\[mN\].*\n)?\n## First Request\nNever change \/etc\/heron\.conf\. Mend the tests\./,
};

test('every example is run', () => {
  const examples = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !PARTS.has(name));
  assert.deepEqual(examples.toSorted(), Object.keys(SAID).toSorted());
});

for (const [name, said] of Object.entries(SAID)) {
  test(`C23 the example ${name} does what it says`, async () => {
    const { stdout, stderr } = await printedBy(name);
    assert.match(stdout, said);
    assert.equal(stderr, '');
  });
}

test('C23 without Bobbin the same agent is refused', async () => {
  await assert.rejects(run(fileURLToPath(urlOf('ai-sdk-plain.ts'))), {
    code: 1,
    stdout: '',
    stderr:
      /^Refused after \d+ of 60 steps: This model's maximum context length is 10000 tokens\. .*\n$/,
  });
});

function lines(name: string): readonly string[] {
  const text = readFileSync(new URL(name, FOLDER), 'utf8');
  return text.split('\n').filter((line) => !line.startsWith('//'));
}

test('A14 adding Bobbin to the AI SDK example takes at most five lines', () => {
  const [plain, compacted] = [lines('ai-sdk-plain.ts'), lines('ai-sdk.ts')];
  const added = compacted.filter((line) => !plain.includes(line));
  assert.ok(added.length <= 5, added.join('\n'));
  const removed = plain.filter((line) => !compacted.includes(line));
  assert.ok(removed.length <= 1, removed.join('\n'));
});
