import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { isSoak } from '@bobbin/testing/volume';
import { pack } from '../scripts/package/pack.ts';
import { node20, NO_NODE_20 } from './old-node.ts';

const root = join(import.meta.dirname, '..');
const place = mkdtempSync(join(tmpdir(), 'bobbin-package-'));
const project = join(place, 'project');
const modules = join(project, 'node_modules');
after(() => rmSync(place, { recursive: true }));

interface PublishedManifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies?: unknown;
  readonly scripts?: unknown;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly repository: { readonly url: string };
  readonly keywords: readonly string[];
}

before(async () => {
  const tarball = await pack(root, place);
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  (isSoak() ? install : unpack)(tarball);
});

function install(tarball: string): void {
  const args = ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', tarball];
  execFileSync('npm', args, { cwd: project });
}

/** What npm makes of a package without dependencies and scripts, in a tenth of the time. */
function unpack(tarball: string): void {
  const folder = join(modules, 'bobbin');
  mkdirSync(folder);
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  const { bin, dependencies, scripts } = manifest();
  assert.deepEqual([dependencies, scripts], [undefined, undefined]);
  mkdirSync(join(modules, '.bin'));
  for (const [name, path] of Object.entries(bin))
    symlinkSync(join('../bobbin', path), join(modules, '.bin', name));
}

/** Runs a module in the project, away from the checkout. */
function run(
  code: string,
  node: string = process.execPath,
): { status: number | null; stdout: string; stderr: string } {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: join(place, 'compiled') };
  const args = ['--input-type=module', '--eval', code];
  return spawnSync(node, args, { cwd: project, encoding: 'utf8', env });
}

function manifest(): PublishedManifest {
  const text = readFileSync(join(modules, 'bobbin/package.json'), 'utf8');
  return JSON.parse(text) as PublishedManifest;
}

/** The names under which the package is imported. */
function entries(): string[] {
  return Object.keys(manifest().exports)
    .filter((path) => path !== './package.json')
    .map((path) => path.replace('.', 'bobbin'));
}

/** The entries of frameworks import what is theirs at once; everything else is imported when it is needed. */
const FRAMEWORKS = ['bobbin/langchain', 'bobbin/langgraph', 'bobbin/mcp', 'bobbin/openai-agents'];

test('the package installs nothing else, and has a readme, a licence and its facts', () => {
  assert.deepEqual(
    readdirSync(modules).filter((name) => !name.startsWith('.')),
    ['bobbin'],
  );
  const files = readdirSync(join(modules, 'bobbin'));
  assert.deepEqual(
    ['LICENSE', 'README.md', 'package.json'].filter((name) => !files.includes(name)),
    [],
  );
  const { repository, keywords } = manifest();
  assert.match(repository.url, /^git\+https:/);
  assert.ok(keywords.includes('compaction'));
});

test('every entry that belongs to no framework loads without a peer', () => {
  const plain = entries().filter((name) => !FRAMEWORKS.includes(name));
  const { stdout, stderr } = run(
    `for (const name of ${JSON.stringify(plain)}) console.log(name, Object.keys(await import(name)).length > 0);`,
  );
  assert.equal(stderr, '');
  assert.deepEqual(
    stdout.trim().split('\n'),
    plain.map((name) => `${name} true`),
  );
});

test('a plain loop compacts and resumes from SQLite', () => {
  const { stdout, stderr } = run(`
    import { createBobbin } from 'bobbin';
    import { openaiChat, openaiChatProblems } from 'bobbin/openai';
    import { sqliteStore } from 'bobbin/sqlite';
    import { folderArtifacts } from 'bobbin/stores';
    const open = () => createBobbin({ codec: openaiChat, model: 'gpt-5', window: 8000, store: sqliteStore('threads.db'), artifacts: folderArtifacts('artifacts') });
    const history = [{ role: 'user', content: 'Never restart db-1.' }];
    let fitted;
    const bobbin = open();
    for (let step = 0; step < 40; step++) {
      history.push({ role: 'assistant', content: 'Step ' + step + '. ' + 'I looked at one more host. '.repeat(40) });
      fitted = await bobbin.fit(history);
      if (!fitted.fits || openaiChatProblems(fitted.messages).length > 0) throw new Error('not valid');
    }
    const thread = await bobbin.thread('t');
    await thread.append({ role: 'user', content: 'Hello.' });
    console.log(fitted.messages.length < history.length, JSON.stringify(fitted.messages).includes('Never restart db-1'), (await open().thread('t')).length);
  `);
  assert.equal(stderr, '');
  assert.equal(stdout, 'true true 1\n');
});

const MISSING = [
  [
    "(await import('bobbin/models')).bpe('o200k')",
    'the counter o200k needs the packages hypertok and @hypertok/vocab-o200k: npm install hypertok @hypertok/vocab-o200k',
  ],
  [
    "(await import('bobbin/postgres')).postgresStore('postgres://127.0.0.1/x')",
    'a PostgreSQL store needs the package postgres: npm install postgres',
  ],
  [
    "(await import('bobbin/s3')).s3Blobs({ endpoint: 'http://127.0.0.1', bucket: 'b', accessKeyId: 'k', secretAccessKey: 's' }).read('x')",
    'S3 needs the package aws4fetch: npm install aws4fetch',
  ],
  [
    "(await import('bobbin/ai-sdk')).aiSdkBobbin({ window: 8000, toolSet: { t: {} } }).prepareStep({ messages: [{ role: 'user', content: 'Hi.' }], steps: [] })",
    'bobbin/ai-sdk needs the package ai: npm install ai',
  ],
] as const;

test('a missing peer is named in one line, with the command that installs it', () => {
  const lines = MISSING.map(
    ([code]) => `try { await ${code} } catch ({ message }) { console.log(message) }`,
  );
  const { stdout } = run(lines.join('\n'));
  assert.deepEqual(
    stdout.trim().split('\n'),
    MISSING.map(([, line]) => line),
  );
});

const oldNode = node20();

test(
  'what needs a newer Node than 20 says so at once',
  { skip: oldNode === undefined && NO_NODE_20 },
  () => {
    const { stdout, stderr } = run(
      `const said = [];
      await import('bobbin/gateway').catch(({ message }) => said.push(message));
      try { (await import('bobbin/sqlite')).sqliteStore('x.db'); } catch ({ message }) { said.push(message); }
      console.log(said.join('\\n').replace(process.versions.node, '20'));`,
      oldNode,
    );
    assert.equal(stderr, '');
    assert.deepEqual(stdout.trim().split('\n'), [
      'bobbin/gateway needs Node 22.18 or later; this is 20',
      'this runtime has no node:sqlite: run Node 22.18 or later',
    ]);
  },
);

test('the command for MCP says in one line what it needs', () => {
  const bin = join(modules, '.bin/bobbin-mcp');
  const { status, stderr } = spawnSync(process.execPath, [bin, project], { encoding: 'utf8' });
  assert.deepEqual(
    [status, stderr],
    [
      1,
      'bobbin-mcp: the server needs the package @modelcontextprotocol/sdk: npm install @modelcontextprotocol/sdk\n',
    ],
  );
});

test('the counter of a model is an estimate if its tokenizer is not installed', () => {
  const { stdout, stderr } = run(
    `const { counterFor } = await import('bobbin/models'); console.log((await counterFor('gpt-5')).text('Hello, world!') > 2);`,
  );
  assert.equal(stderr, '');
  assert.equal(stdout, 'true\n');
});

test('the command compacts, and the agent runs, without anything else installed', () => {
  const bin = join(modules, '.bin/bobbin');
  const env = {
    PATH: process.env['PATH'],
    XDG_DATA_HOME: place,
    XDG_CONFIG_HOME: place,
    XDG_CACHE_HOME: place,
  };
  const command = (input: string, ...args: readonly string[]): string =>
    execFileSync(process.execPath, [bin, ...args], { cwd: project, env, input, encoding: 'utf8' });
  const messages = Array.from({ length: 60 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Step ${i}. ${'One more function was read. '.repeat(40)}`,
  }));
  const smaller = command(JSON.stringify(messages), 'compact', '-', '--budget', '4000');
  assert.ok((JSON.parse(smaller) as unknown[]).length < messages.length);
  assert.match(command('', 'demo'), /A long session, compacted to fit/);
  const exact = spawnSync(process.execPath, [bin, 'compact', '-', '--counter', 'o200k'], {
    cwd: project,
    env,
    input: JSON.stringify(messages),
    encoding: 'utf8',
  });
  assert.match(
    exact.stderr,
    /^bobbin: the counter o200k needs the packages hypertok and @hypertok\/vocab-o200k: npm install .*\n$/,
  );
  assert.match(
    command('', '-p', '--yes', '--model', 'scripted/long@16000', 'do 25 steps'),
    /^All 25 steps are done\.\n$/,
  );
});

/** Gives the project a package that the workspace has. */
function link(name: string): void {
  mkdirSync(dirname(join(modules, name)), { recursive: true });
  symlinkSync(join(root, 'node_modules', name), join(modules, name));
}

// The types of the frameworks take long to check.
if (isSoak())
  test('every entry loads with its peers, and its types hold under tsc --strict', () => {
    link('@langchain/core');
    assert.equal(run(`await import('bobbin/langgraph');`).stderr, '');
    const others = Object.keys(manifest().peerDependencies).filter(
      (name) => name !== '@langchain/core',
    );
    for (const name of [...others, '@types/node']) link(name);
    const { stdout, stderr } = run(
      `for (const name of ${JSON.stringify(FRAMEWORKS)}) console.log(name, Object.keys(await import(name)).length > 0);`,
    );
    assert.equal(stderr, '');
    assert.deepEqual(
      stdout.trim().split('\n'),
      FRAMEWORKS.map((name) => `${name} true`),
    );
    const code = entries().map(
      (name, i) => `import * as entry${i} from '${name}';\nvoid entry${i};`,
    );
    writeFileSync(join(project, 'entries.ts'), code.join('\n'));
    // The frameworks' own declarations are theirs to check.
    const flags = [
      '--strict',
      '--skipLibCheck',
      '--noEmit',
      '--target',
      'es2022',
      '--module',
      'nodenext',
    ];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const checked = spawnSync(process.execPath, [tsc, ...flags, 'entries.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    assert.equal(checked.status, 0, checked.stdout);
  });
