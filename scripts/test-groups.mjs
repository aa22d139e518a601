// Puts test files that can share a process into groups. Most of a small file's time is Node that starts, loads modules and
// compiles what runs often.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Files that change their process before they load what they test. */
const ALONE = ['packages/core/test/large-result.test.ts'];

/**
 * Folders whose tests mostly wait for processes and servers, so that two groups take half as long. What computes is faster
 * in one process, which loads and optimises the code once.
 */
const IN_TWO_GROUPS = new Set(['packages/agent/test', 'packages/stores/test']);

const LOADER = new URL('test-group.mjs', import.meta.url).href;

/**
 * Writes a program for each group that loads the group's files.
 * @param {readonly string[]} folders The folders with tests. No group has files of two of them.
 * @param {string} programs Where to write; emptied first.
 * @returns {string[]} The files for Node's test runner, which gives each a process.
 */
export function groupTests(folders, programs) {
  rmSync(programs, { recursive: true, force: true });
  mkdirSync(programs, { recursive: true });
  const groups = folders.flatMap((folder) => {
    const files = globSync(`${folder}/**/*.test.ts`).filter((file) => !ALONE.includes(file));
    if (files.length === 0) return [];
    const name = folder.split('/').at(-2) ?? folder;
    return dealt(files.toSorted(), IN_TWO_GROUPS.has(folder) ? 2 : 1).map((group, i) => ({
      name: `${name}-${i + 1}`,
      files: group.map((file) => resolve(file)),
    }));
  });
  const paths = groups.map(({ name, files }, i) => {
    // Node's runner starts them in the order of their names.
    const path = join(programs, `${String(i).padStart(2, '0')}-${name}.mjs`);
    writeFileSync(path, `import { load } from '${LOADER}';\nload(${JSON.stringify(files)});\n`);
    return path;
  });
  return [...paths, ...ALONE];
}

/**
 * Deals files to groups in turn: neighbours by name often take equally long.
 * @param {readonly string[]} files
 * @param {number} count
 */
function dealt(files, count) {
  return Array.from({ length: count }, (_, i) => files.filter((_file, at) => at % count === i));
}
