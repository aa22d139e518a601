// Bundles the command from source, for tests that start it often: to load some hundred modules takes a third of the
// processor time of a short session. `node scripts/bundle-command.mjs FOLDER` writes FOLDER/bobbin.js.
import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';

const [folder = ''] = process.argv.slice(2);
const compiled = resolve('node_modules/.cache/node');

/** As `packages/cli/bin/bobbin.mjs` starts it in a checkout. */
const START = `
import { enableCompileCache, flushCompileCache } from 'node:module';
import { endWithParent } from './packages/cli/bin/runtime.mjs';
endWithParent();
enableCompileCache(${JSON.stringify(compiled)});
setTimeout(flushCompileCache, 1_000).unref();
await import('./packages/cli/src/main.ts');
`;

rmSync(folder, { recursive: true, force: true });
await build({
  stdin: { contents: START, resolveDir: resolve('.'), sourcefile: 'bobbin.js' },
  outdir: folder,
  entryNames: 'bobbin',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  conditions: ['@bobbin/source'],
  // They read files beside their modules.
  external: ['hypertok', '@hypertok/*'],
  // Bundled modules of CommonJS ask for Node's own modules by `require`.
  banner: {
    js: `import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);`,
  },
  logLevel: 'warning',
});
