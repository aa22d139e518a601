import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
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

test('what was built and published keeps its compiled code for the next start', (t) => {
  const place = folder(t);
  cpSync(dirname(SHIM), join(place, 'bin'), { recursive: true });
  mkdirSync(join(place, 'dist'));
  writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  writeFileSync(join(place, 'dist', 'main.js'), "process.stdout.write('built\\n');\n");
  const { stdout, stderr } = spawnSync(process.execPath, [join(place, 'bin', 'bobbin.mjs')], {
    env: { PATH: process.env['PATH'], TMPDIR: place },
    encoding: 'utf8',
  });
  assert.deepEqual([stdout, stderr], ['built\n', '']);
  const [cache = ''] = readdirSync(join(place, 'node-compile-cache'));
  assert.equal(readdirSync(join(place, 'node-compile-cache', cache)).length > 0, true);
});
