import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Folders } from '../src/folders.ts';
import { foldersOf } from '../src/folders.ts';
import { budgetOf, policyOf } from '../src/compaction/policy.ts';
import { loadSettings, saveCompaction } from '../src/settings.ts';
import { BIN, temporaryFolder } from './terminal.ts';

function given(t: TestContext, user?: object | string, project?: object): Folders {
  const root = temporaryFolder(t);
  const folders: Folders = {
    project: join(root, 'p'),
    config: join(root, 'c'),
    data: join(root, 'd'),
  };
  if (user !== undefined) put(join(folders.config, 'settings.json'), user);
  if (project !== undefined) put(join(folders.project, '.bobbin', 'settings.json'), project);
  return folders;
}

function put(path: string, content: object | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
}

test('B3 the defaults: on, 16 384 in reserve, 20 000 recent', (t) => {
  assert.deepEqual(loadSettings(given(t), {}).compaction, {
    enabled: true,
    reserveTokens: 16_384,
    keepRecentTokens: 20_000,
  });
});

test('B3 the project wins over the user, field by field', (t) => {
  const folders = given(
    t,
    { model: 'openai/gpt-5', compaction: { reserveTokens: 8_000, keepRecentTokens: 9_000 } },
    { compaction: { keepRecentTokens: 5_000 } },
  );
  assert.deepEqual(loadSettings(folders, {}), {
    model: 'openai/gpt-5',
    compaction: { enabled: true, reserveTokens: 8_000, keepRecentTokens: 5_000 },
    allow: [],
    providers: {},
    models: {},
  });
});

test('B3 an environment variable turns auto-compaction off', (t) => {
  const folders = given(t, { compaction: { enabled: true } });
  const enabled = (value: string): boolean =>
    loadSettings(folders, { BOBBIN_DISABLE_AUTOCOMPACT: value }).compaction.enabled;
  assert.deepEqual(
    [enabled('1'), enabled('true'), enabled('0'), enabled('')],
    [false, false, true, true],
  );
});

test('a project can neither allow commands nor say where keys go', (t) => {
  for (const content of [
    { permissions: { allow: ['run:*'] } },
    { providers: { openai: { baseURL: 'http://127.0.0.1:1' } } },
  ])
    assert.throws(() => loadSettings(given(t, undefined, content), {}), /can be set only in/);
});

test('a project cannot name a model that is code: no module of its own runs unasked', async (t) => {
  const module = './evil.mjs';
  for (const content of [
    { model: `scripted/${module}` },
    { model: `scripted/${module}@16000` },
    { compaction: { model: `scripted/${module}` } },
  ]) {
    const folders = given(t, undefined, content);
    put(
      join(folders.project, 'evil.mjs'),
      `import { writeFileSync } from 'node:fs';
       writeFileSync(new URL('ran', import.meta.url), '');
       export const script = () => ({ text: 'hello' });`,
    );
    const args = ['--print', 'hello', '--yes'];
    const { status, stderr } = spawnSync(process.execPath, [BIN, ...args], {
      cwd: folders.project,
      env: {
        PATH: process.env['PATH'],
        XDG_CONFIG_HOME: folders.config,
        XDG_DATA_HOME: folders.data,
      },
      encoding: 'utf8',
      input: '',
    });
    assert.equal(existsSync(join(folders.project, 'ran')), false, JSON.stringify(content));
    assert.equal(status, 2);
    assert.match(stderr, /that is a module can be set only in .*settings\.json/);
  }
});

test('a project may name a script that is built in; the user and the environment any module', (t) => {
  const module = 'scripted/./mine.mjs';
  assert.equal(
    loadSettings(given(t, undefined, { model: 'scripted/echo@9000' }), {}).model,
    'scripted/echo@9000',
  );
  assert.equal(loadSettings(given(t, { model: module }), {}).model, module);
  assert.equal(loadSettings(given(t), { BOBBIN_MODEL: module }).model, module);
});

test('a wrong setting is named with its file', (t) => {
  const cases: readonly (readonly [object | string, RegExp])[] = [
    ['{', /settings\.json: this is no JSON object/],
    [{ compaction: { reserveTokens: -1 } }, /compaction\.reserveTokens must be a whole number/],
    [{ compaction: { preset: 'x' } }, /compaction\.preset must be one of/],
    [{ compact: {} }, /there is no setting compact/],
    [{ permissions: { allow: 'run:ls' } }, /permissions\.allow must be a list/],
    [{ permissions: { allow: ['everything'] } }, /permissions\.allow\[0\] must be a rule such as/],
    [
      { permissions: { allow: ['run:ls', 'write:app/[post-id]/**'] } },
      /permissions\.allow\[1\] must be a rule such as/,
    ],
    [{ providers: { own: { baseURL: 'nowhere' } } }, /providers\.own\.baseURL must be a URL/],
    [{ models: { m: { windowTokens: '1' } } }, /models\.m\.windowTokens must be/],
  ];
  for (const [content, message] of cases)
    assert.throws(() => loadSettings(given(t, content), {}), message);
});

test('B2 what /autocompact keeps changes nothing else in the file', (t) => {
  const folders = given(t, { model: 'a/b', compaction: { reserveTokens: 1_000 } });
  saveCompaction(folders, { enabled: false });
  assert.deepEqual(JSON.parse(readFileSync(join(folders.config, 'settings.json'), 'utf8')), {
    model: 'a/b',
    compaction: { reserveTokens: 1_000, enabled: false },
  });
});

test('B5 B24 the trigger is the reserve, also for a window that is smaller than it', () => {
  const settings = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };
  assert.deepEqual(policyOf(settings, 200_000, true).trigger, {
    kind: 'reserve',
    reserveTokens: 16_384,
  });
  assert.deepEqual(policyOf(settings, 200_000, true).cut, {
    kind: 'keep-tokens',
    tokens: 20_000,
    splitTurns: false,
  });
  assert.deepEqual(policyOf(settings, 16_000, true).trigger, {
    kind: 'reserve',
    reserveTokens: 4_000,
  });
  assert.deepEqual(budgetOf(settings, 16_000), {
    windowTokens: 16_000,
    outputTokens: 2_000,
    rehydrationTokens: 1_000,
  });
});

test('B19 B20 B21 B22 B24 a preset of the engine can replace the agent’s own policy', () => {
  for (const preset of ['pi', 'codex', 'claude-code', 'opencode'])
    assert.equal(
      policyOf({ enabled: true, reserveTokens: 1, keepRecentTokens: 1, preset }, 100_000, true)
        .name,
      preset,
    );
});

test('sessions and settings follow the XDG folders', () => {
  const env = { XDG_DATA_HOME: '/data', XDG_CONFIG_HOME: '/config' };
  assert.deepEqual(foldersOf('/project', env), {
    project: '/project',
    config: '/config/bobbin',
    data: '/data/bobbin',
  });
});

/** The program with a project's settings that lead to a path. */
function startedWith(t: TestContext, make: (path: string) => void): readonly unknown[] {
  const folders = given(t);
  const path = join(folders.project, '.bobbin', 'settings.json');
  mkdirSync(dirname(path), { recursive: true });
  make(path);
  const { status, stderr } = spawnSync(process.execPath, [BIN, '-p', 'hello'], {
    cwd: folders.project,
    env: {
      PATH: process.env['PATH'],
      XDG_CONFIG_HOME: folders.config,
      XDG_DATA_HOME: folders.data,
    },
    input: '',
    encoding: 'utf8',
    timeout: 10_000,
  });
  return [status, stderr.replace(path, 'SETTINGS')];
}

test('settings that are a device, a pipe or endless are refused at once', (t) => {
  const refused = [2, 'bobbin: SETTINGS: this is not a regular file\n'];
  assert.deepEqual(
    startedWith(t, (path) => symlinkSync('/dev/zero', path)),
    refused,
  );
  assert.deepEqual(
    startedWith(t, (path) => void spawnSync('sh', ['-c', `mkfifo '${path}'`])),
    refused,
  );
  assert.deepEqual(
    startedWith(t, (path) => mkdirSync(path)),
    refused,
  );
  const large = startedWith(t, (path) => {
    writeFileSync(path, '');
    truncateSync(path, 1_000_001);
  });
  assert.deepEqual(large, [2, 'bobbin: SETTINGS: this is larger than 1000000 bytes\n']);
});

test('what a project’s settings say reaches the terminal as characters only', (t) => {
  const content = JSON.stringify({ 'a\u001B]0;x\u0007b\u202Ec\nd': 1 });
  assert.deepEqual(
    startedWith(t, (path) => writeFileSync(path, content)),
    [2, 'bobbin: SETTINGS: there is no setting a\\u{1b}]0;x\\u{7}b\\u{202e}c\\nd\n'],
  );
});
