import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PRESETS } from '@bobbin/core/internal';
import { COUNTERS } from '../src/compact/counters.ts';
import { FORMATS } from '../src/input/formats.ts';
import { bobbin, folder, SHIM } from './run.ts';

test("a user's own TypeScript is loaded as its package says, beside the source of the workspace", async (t) => {
  const cwd = folder(t);
  const files = {
    'package.json': '{"type":"commonjs"}',
    'words.ts': "const words: string = 'aye';\nmodule.exports = { words };\n",
    'script.mjs':
      "import { words } from './words.ts';\nexport const script = () => ({ text: words });\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const env = { XDG_DATA_HOME: join(cwd, 'data'), XDG_CONFIG_HOME: join(cwd, 'config') };
  assert.deepEqual(
    await bobbin(['-p', 'hello', '--model', 'scripted/./script.mjs'], { cwd, env }),
    { status: 0, stdout: 'aye\n', stderr: '' },
  );
});

const MAIN = "import { spawnSync } from 'node:child_process';\nprocess.stdout.write('built\\n');\n";

test('what was built and published keeps its compiled code for the next start, also where it is killed', (t) => {
  for (const [how, end] of [
    ['ends', ''],
    // By another process: Node keeps it where a process kills itself.
    ['killed', "setTimeout(() => spawnSync('kill', ['-9', String(process.pid)]), 1_500);"],
  ] as const) {
    const place = folder(t);
    cpSync(dirname(SHIM), join(place, 'bin'), { recursive: true });
    mkdirSync(join(place, 'dist'));
    writeFileSync(join(place, 'package.json'), '{"type":"module"}');
    writeFileSync(join(place, 'dist', 'main.js'), `${MAIN}${end}\n`);
    const { stdout, stderr } = spawnSync(process.execPath, [join(place, 'bin', 'bobbin.mjs')], {
      env: { PATH: process.env['PATH'], XDG_CACHE_HOME: join(place, 'cache') },
      encoding: 'utf8',
    });
    assert.deepEqual([how, stdout, stderr], [how, 'built\n', '']);
    const cache = join(place, 'cache', 'bobbin', 'compiled');
    assert.equal(statSync(cache).mode & 0o777, 0o700);
    const [version = ''] = readdirSync(cache);
    assert.ok(readdirSync(join(cache, version)).length > 0, how);
  }
});

test('help is printed without the engine, and a session is opened without any dependency', async (t) => {
  const ofTheCommand = ['cli'];
  assert.deepEqual(await packagesLoaded(t, ['--help']), ofTheCommand);
  assert.deepEqual(await packagesLoaded(t, ['--version']), ofTheCommand);
  for (const name of [
    'compact',
    'inspect',
    'replay',
    'artifact',
    'store',
    'delete',
    'demo',
    'import',
  ])
    assert.deepEqual(await packagesLoaded(t, [name, '--help']), ofTheCommand);
  assert.deepEqual(await packagesLoaded(t, ['agent', '--help']), ['agent', 'cli']);
  assert.deepEqual(await packagesLoaded(t, ['--mode', 'rpc', '--model', 'scripted/echo']), [
    'agent',
    'cli',
    'codecs',
    'core',
    'models',
    'stores',
  ]);
});

/** The packages whose modules a call of the command loads; a dependency by its place. */
async function packagesLoaded(t: TestContext, args: readonly string[]): Promise<readonly string[]> {
  const cwd = folder(t);
  const list = join(cwd, 'loaded');
  const hook = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const load = (url, context, next) => (appendFileSync(${JSON.stringify(list)}, url + '\\n'), next(url, context));
registerHooks({ load });
`;
  writeFileSync(join(cwd, 'hook.mjs'), hook);
  const env = {
    XDG_DATA_HOME: join(cwd, 'data'),
    NODE_OPTIONS: `--import=${pathToFileURL(join(cwd, 'hook.mjs')).href}`,
  };
  const { status, stderr } = await bobbin(args, { cwd, env });
  assert.deepEqual([args, status, stderr], [args, 0, '']);
  const files = readFileSync(list, 'utf8').match(/^file:.*$/gm) ?? [];
  return [...new Set(files.map((url) => /\/packages\/(\w+)\//.exec(url)?.[1] ?? url))].toSorted();
}

test('the names that help lists are those that are known', async () => {
  const { stdout } = await bobbin(['compact', '--help']);
  const printed = stdout.replaceAll(/\s+/g, ' ');
  for (const [what, names] of [
    ['The format', FORMATS],
    ['The policy', PRESETS],
    ['How tokens are counted', COUNTERS],
  ] as const)
    assert.ok(printed.includes(`${what}: ${Object.keys(names).join(', ')}. `), what);
});
