import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { installedHosts } from './installed-hosts.ts';

const DIST = join(import.meta.dirname, '../../dist');

/** What users write, held against the types of the hosts themselves. */
const USES = `
import type { ExtensionFactory } from '@earendil-works/pi-coding-agent';
import type { ErrorProcessor, InputProcessor } from '@mastra/core/processors';
import type { Plugin } from '@opencode-ai/plugin';
import { bobbinExtension } from '${DIST}/pi/pi.js';
import { mastraBobbin } from '${DIST}/mastra/mastra.js';
import { bobbinPlugin } from '${DIST}/opencode/opencode.js';
export const extension: ExtensionFactory = bobbinExtension();
export const plugin: Plugin = bobbinPlugin();
export const input: InputProcessor = mastraBobbin();
export const errors: ErrorProcessor = mastraBobbin();
`;

test('the extension and the plugin have the types that pi and OpenCode ask for', (t) => {
  const folder = mkdtempSync(join(installedHosts(), 'types-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'uses.ts'), USES);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = createRequire(import.meta.url).resolve('typescript/package.json');
  const { stdout } = spawnSync(process.execPath, [join(tsc, '../bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
});
