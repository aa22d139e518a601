// The site of the documentation: `serve` shows it while pages change, `build` makes it in .docs-site and fails on dead links.
// What it needs is installed in docs/ when it is first asked for, apart from the workspace. Plain JavaScript.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from '../install.mjs';

const docs = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs');
const [task = 'serve'] = process.argv.slice(2);

install(docs);
run('typedoc/bin/typedoc');
run('vitepress/bin/vitepress.js', task === 'build' ? 'build' : 'dev');

/**
 * Runs a tool of docs/ in that folder, and ends with its exit code if it fails.
 * @param {string} tool
 * @param {string[]} args
 */
function run(tool, ...args) {
  const { status } = spawnSync(process.execPath, [join('node_modules', tool), ...args], {
    cwd: docs,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
