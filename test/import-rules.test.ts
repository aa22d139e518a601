import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseModule } from '../scripts/import-rules/module.ts';
import { violations } from '../scripts/import-rules/rules.ts';

function check(path: string, text: string, dependencies: readonly string[] = []): string[] {
  return violations(parseModule(path, text), dependencies).map(
    ({ line, message }) => `${line}: ${message}`,
  );
}

const CORE = 'packages/core/src';

test('a layer of core imports layers to its left, and no other', () => {
  const text = `
import { cut } from '../plan/cut.ts';
import type { Turn } from '../thread/turn.ts';
export { ladder } from '../presets/ladder.ts';
export type { Layout } from './layout.ts';
const later = import('../compact/compact.ts');
`;
  assert.deepEqual(check(`${CORE}/render/render.ts`, text), [
    '4: render may import check, message, thread, tokens, plan, not presets: move what is needed further left',
    '6: render may import check, message, thread, tokens, plan, not compact: move what is needed further left',
  ]);
  assert.deepEqual(check(`${CORE}/presets/pi.ts`, text), []);
});

test('core imports nothing from outside', () => {
  const text = `import { createHash } from 'node:crypto';
import { z } from 'zod';
import { decode } from '@bobbin/codecs';
import { law } from '../../../testing/src/index.ts';`;
  assert.deepEqual(check(`${CORE}/thread/id.ts`, text), [
    '1: core imports nothing from outside, such as "node:crypto": take it through a port',
    '2: core imports nothing from outside, such as "zod": take it through a port',
    '3: core may import nothing, not codecs: move what is needed, or pass it in through a port',
    '4: "../../../testing/src/index.ts" leaves the package: import other packages by name',
  ]);
});

test('core has no clock, no randomness, no host', () => {
  const text = `const now = Date.now();
const date = new Date();
const text = Date();
const random = Math.random();
setTimeout(() => console.log(process.env));
const where = import.meta.url;
const fine = [new Date(0), step.process, { console: 1 }, 'Math.random()', /Date.now/]; // process`;
  assert.deepEqual(check(`${CORE}/plan/economics.ts`, text), [
    '1: core is pure, without Date.now: take it through a port',
    '2: core is pure, without new Date(): take it through a port',
    '3: core is pure, without Date(): take it through a port',
    '4: core is pure, without Math.random: take it through a port',
    '5: core is pure, without setTimeout: take it through a port',
    '5: core is pure, without console: take it through a port',
    '5: core is pure, without process: take it through a port',
    '6: core is pure, without import.meta: take it through a port',
  ]);
  assert.deepEqual(check('packages/core/test/clock.test.ts', text), []);
});

test('ports and events hold types only and are open from tokens onwards', () => {
  const fromPorts = `import type { Clock } from '../ports.ts';`;
  assert.deepEqual(check(`${CORE}/tokens/counter.ts`, fromPorts), []);
  assert.deepEqual(check(`${CORE}/thread/turn.ts`, fromPorts), [
    '1: thread is before ports and may not import it',
  ]);
  assert.deepEqual(check(`${CORE}/ports.ts`, `import type { Plan } from './plan/record.ts';`), []);
  assert.deepEqual(check(`${CORE}/ports.ts`, `import { plan } from './plan/record.ts';`), [
    '1: ports, events hold types only: use `import type`',
  ]);
  assert.deepEqual(check(`${CORE}/ports.ts`, `export type { Plan } from './plan/record.ts';`), []);
});

test('a package imports only the packages below it, and lists them', () => {
  const text = `import { fit } from '@bobbin/core';
import { count } from '@bobbin/models';`;
  assert.deepEqual(check('packages/codecs/src/openai.ts', text, ['@bobbin/core']), [
    '2: codecs may import core, not models: move what is needed, or pass it in through a port',
  ]);
  assert.deepEqual(check('packages/cli/src/main.ts', text, ['@bobbin/core']), [
    '2: @bobbin/models is not in the dependencies of packages/cli/package.json: add it',
  ]);
  assert.deepEqual(check('packages/attic/src/index.ts', text), [
    '1: package attic has no import rule: give it one in scripts/import-rules/rules.ts',
  ]);
});

test('tests import their package, what it may import, and testing', () => {
  const text = `import { fit } from '@bobbin/core';
import { expectValid } from '@bobbin/testing';
import { count } from '@bobbin/models';`;
  assert.deepEqual(check('packages/core/test/fit.test.ts', text), [
    '3: tests of core may import core, testing, not models',
  ]);
});

test('only a package root has an index, and it names its exports', () => {
  assert.deepEqual(check(`${CORE}/index.ts`, `export * from './presets/ladder.ts';`), [
    '1: name each export: the list is what the package offers',
  ]);
  assert.deepEqual(check(`${CORE}/plan/index.ts`, `export { cut } from './cut.ts';`), [
    '1: only a package root has an index: import the file itself',
  ]);
  assert.deepEqual(check(`${CORE}/plan/cut.ts`, `import { fit } from '../index.ts';`), [
    '1: inside core import the file itself, not the index',
  ]);
});

test('files and folders are named by a concept', () => {
  assert.deepEqual(check('packages/codecs/src/utils.ts', ''), [
    '1: "utils.ts" says nothing: name it by the concept it holds',
  ]);
  assert.deepEqual(check('test/helpers/thread.ts', ''), [
    '1: "helpers" says nothing: name it by the concept it holds',
  ]);
  assert.deepEqual(check(`${CORE}/attic.ts`, ''), [
    '1: core has no layer "attic": its layers are check, message, thread, tokens, plan, render, summary, extract, verify, audit, compact, recall, presets, session',
  ]);
});
