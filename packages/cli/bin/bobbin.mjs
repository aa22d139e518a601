#!/usr/bin/env node
// Plain JavaScript that an old Node can read. In a checkout it runs the source, on the pinned Node if the
// host's is too old; a published package has no source and runs what was built.
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OLDEST, endWithParent, hostNode, pinnedNode, runCommand } from './runtime.mjs';

const self = fileURLToPath(import.meta.url);
const source = new URL('../src/main.ts', import.meta.url);
const args = process.argv.slice(2);
const node = hostNode() ?? pinnedNode();
endWithParent();

if (node === undefined) {
  console.error(`bobbin needs Node ${OLDEST} or later; this is ${process.versions.node}.`);
  process.exitCode = 1;
} else if (node !== process.execPath) {
  process.exitCode = await runCommand(node, [self, ...args]);
} else if (existsSync(source)) {
  await keepCompiled(fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url)));
  const { registerHooks } = await import('node:module');
  registerHooks({ resolve: sourceResolver() });
  await import(source.href);
} else {
  const { XDG_CACHE_HOME = join(homedir(), '.cache') } = process.env;
  await keepCompiled(join(XDG_CACHE_HOME, 'bobbin', 'compiled'));
  await import(new URL('../dist/main.js', import.meta.url).href);
}

/**
 * Compiled code is kept for the next start: soon, since a session may last for days, or be killed; and when this ends.
 * @param {string} folder Its owner's alone: whoever could write there would choose what runs next time.
 */
async function keepCompiled(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return; // It starts without, only later.
  }
  const { enableCompileCache, flushCompileCache } = await import('node:module');
  enableCompileCache(folder);
  setTimeout(flushCompileCache, 1_000).unref();
}

/**
 * Has the workspace's packages import each other's source, and answers for them without looking: to find each of some
 * hundred modules on disk, and in which package it is, takes Node as long as all the rest of loading it. Whatever else
 * imports, a user's script or a dependency, Node resolves as ever.
 * @returns {import('node:module').ResolveHookSync}
 */
function sourceResolver() {
  const packages = new URL('../../', import.meta.url).href;
  /** @type {Map<string, import('node:module').ResolveFnOutput>} */
  const found = new Map();
  return (specifier, context, next) => {
    const { parentURL = '', conditions } = context;
    const look = () =>
      next(specifier, { ...context, conditions: ['@bobbin/source', ...conditions] });
    if (!parentURL.startsWith(packages)) return look();
    if (specifier.startsWith('.')) {
      if (!specifier.endsWith('.ts')) return look();
      const { href: url } = new URL(specifier, parentURL);
      return { url, format: 'module-typescript', shortCircuit: true };
    }
    // A name means the same wherever in a package it stands.
    const [name] = parentURL.slice(packages.length).split('/', 1);
    const key = `${name} ${specifier}`;
    const known = found.get(key) ?? { ...look(), shortCircuit: true };
    found.set(key, known);
    return known;
  };
}
