#!/usr/bin/env node
// Plain JavaScript that an old Node can read. In a checkout it runs the source, on the pinned Node if the
// host's is too old; a published package has no source and runs what was built.
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { OLDEST, hostNode, pinnedNode, runCommand } from './runtime.mjs';

const self = fileURLToPath(import.meta.url);
const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url));
const args = process.argv.slice(2);
const node = hostNode() ?? pinnedNode();

if (node === undefined) {
  console.error(`bobbin needs Node ${OLDEST} or later; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (node !== process.execPath) {
  process.exitCode = await runCommand(node, [self, ...args]);
} else if (existsSync(source)) {
  const { enableCompileCache, registerHooks } = await import('node:module');
  enableCompileCache(compileCache);
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: ['@bobbin/source', ...context.conditions] }),
  });
  await import(pathToFileURL(source).href);
} else {
  await import(new URL('../dist/main.js', import.meta.url).href);
}
