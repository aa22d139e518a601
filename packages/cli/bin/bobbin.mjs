#!/usr/bin/env node
// Plain JavaScript that an old Node can read. In a checkout it runs the source, on the pinned Node if the
// host's is too old; a published package has no source and runs what was built.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OLDEST, handOver, hostNode, pinnedNode } from './runtime.mjs';

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const node = hostNode() ?? pinnedNode();

if (node === undefined) {
  console.error(`bobbin needs Node ${OLDEST} or later; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (existsSync(source)) {
  handOver(node, ['--conditions=@bobbin/source', source, ...process.argv.slice(2)]);
} else if (node !== process.execPath) {
  handOver(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]);
} else {
  await import(new URL('../dist/main.js', import.meta.url).href);
}
