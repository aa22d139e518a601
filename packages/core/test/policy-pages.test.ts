import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { PI_DEFAULTS, PRESETS, STEP_DEFAULTS } from '../src/internal.ts';

const core = join(import.meta.dirname, '../src');
const docs = join(import.meta.dirname, '../../../docs');
const plan = readFileSync(join(docs, 'plan.md'), 'utf8');
const presets = readFileSync(join(docs, 'presets.md'), 'utf8');

function source(path: string): string {
  return readFileSync(join(core, path), 'utf8');
}

/** The fields of every interface in a file whose name ends in something. */
function fieldsOf(path: string, ending: RegExp): readonly string[] {
  return [...source(path).matchAll(/interface (\w+) \{\n([\s\S]*?)\n\}/g)]
    .filter(([, name = '']) => ending.test(name))
    .flatMap(([, , body = '']) => [...body.matchAll(/^ {2}readonly (\w+)/gm)])
    .map(([, field]) => field ?? '');
}

/** The names that a page does not have as code. */
function missing(page: string, names: readonly string[]): readonly string[] {
  const prose = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
  const code = [...prose.matchAll(/`([^`]+)`/g)].map(([, text]) => text).join('\n');
  return names.filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code));
}

test('the page of plans lists every field of a policy, every trigger, cut, rung option and tool field', () => {
  const kinds = ['plan/trigger.ts', 'plan/cut.ts'].flatMap((path) =>
    [...source(path).matchAll(/kind: '([\w-]+)'/g)].map(([, kind]) => kind ?? ''),
  );
  const rungs = ['externalize', 'summarize', 'clear', 'drop', 'squeeze'].flatMap((rung) => [
    rung,
    ...fieldsOf(`compact/rungs/${rung}.ts`, /Options$/),
  ]);
  const names = [
    ...fieldsOf('compact/policy.ts', /^Policy$/),
    ...fieldsOf('plan/plan.ts', /^RenderStyle$/),
    ...fieldsOf('plan/economics.ts', /^CachePrices$/),
    ...fieldsOf('plan/tool-policy.ts', /^ToolPolicy$/),
    ...kinds,
    ...rungs,
  ];
  assert.ok(names.length > 50);
  assert.deepEqual(missing(plan, names), []);
});

test('the page of presets lists every preset and every option with its default', () => {
  const options = readdirSync(join(core, 'presets')).flatMap((file) =>
    fieldsOf(`presets/${file}`, /Options$/),
  );
  const defaults = Object.entries({ ...STEP_DEFAULTS, ...PI_DEFAULTS });
  assert.deepEqual(missing(presets, [...Object.keys(PRESETS), ...options]), []);
  for (const [name, value] of defaults) {
    const written = typeof value === 'number' ? grouped(value) : String(value);
    assert.ok(presets.includes(`| \`${name}\` | ${written} |`), `${name} ${written}`);
  }
});

/** 128000 as `128 000`. */
function grouped(number: number): string {
  return number.toLocaleString('en-US').replaceAll(',', ' ');
}
