import { createRequire, flushCompileCache } from 'node:module';
import { relative } from 'node:path';
import { test } from 'node:test';

const require = createRequire(import.meta.url);

/**
 * Declares the tests of several files in this process. A file that cannot be loaded is a failed test with its name.
 * @param {readonly string[]} files
 */
export function load(files) {
  // Not with `import`: the first tests would run while later files are loaded.
  for (const file of files)
    try {
      require(file);
    } catch (error) {
      test(`${relative('', file)} cannot be loaded`, () => {
        throw error;
      });
    }
  // The processes that tests start need not compile the same modules.
  flushCompileCache();
}
