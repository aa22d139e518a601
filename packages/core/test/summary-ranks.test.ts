import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Summary } from '@bobbin/core';
import {
  chars4,
  EMPTY_SUMMARY,
  fitSummary,
  renderSummary,
  type FileRecord,
} from '@bobbin/core/internal';

const NOTHING_DONE = { written: false, edited: false, deleted: false };
const READ: readonly FileRecord[] = ['a', 'b'].map((name, at) => {
  return { path: `/repo/${name}.ts`, read: true, ...NOTHING_DONE, at };
});
const EDITED: FileRecord = { ...NOTHING_DONE, path: '/repo/c.ts', read: true, edited: true, at: 3 };

/** A summary of more lines than fit. */
function summaryOf(files: readonly FileRecord[]): Summary {
  const notes = Array.from({ length: 40 }, (_, i) => {
    const text = `setting_${i} = ${'value '.repeat(20)}${i}`;
    return {
      text,
      by: 'tool' as const,
      source: `cat config-${i}`,
      turn: 1,
      at: 10 + i,
      worth: 0.5,
    };
  });
  return { ...EMPTY_SUMMARY, firstTurn: 1, lastTurn: 2, task: 'Look.', files, notes };
}

/** The sections of a summary that has half of the space it would take. */
function sectionsOf(files: readonly FileRecord[]): readonly string[] {
  const summary = summaryOf(files);
  const counter = chars4();
  const half = Math.floor(counter.text(renderSummary(summary)) / 2);
  const text = fitSummary(summary, half, counter) ?? '';
  return [...text.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name);
}

test('C6 the files that an agent has read are named before all exact lines are, and come last', () => {
  assert.deepEqual(sectionsOf([]), ['Original Task', 'Exact Lines']);
  assert.deepEqual(sectionsOf(READ), ['Original Task', 'Exact Lines', 'Files Read']);
  assert.deepEqual(sectionsOf([...READ, EDITED]), [
    'Original Task',
    'Changed Files',
    'Exact Lines',
    'Files Read',
  ]);
});

test('a text that leaves out rules says how many; what else is left out is not counted', () => {
  const facts = Array.from({ length: 40 }, (_, i) => ({
    kind: 'constraint' as const,
    text: `Never touch part ${i} of the harbour without asking.`,
    by: 'user' as const,
    turn: 1,
  }));
  const counter = chars4();
  const shown = fitSummary({ ...summaryOf(READ), facts }, 400, counter) ?? '';
  const rules = shown.match(/^- Never touch part/gm)?.length ?? 0;
  assert.ok(rules > 5 && rules < 40, `${rules} rules`);
  assert.match(shown, new RegExp(`\\n\\(${40 - rules} more rules left out\\)$`));
  assert.doesNotMatch(fitSummary(summaryOf(READ), 400, counter) ?? '', /left out\)/);
});

const parts = (mark: string): string =>
  ['One', 'Two', 'Three']
    .map((name) => `${mark} ${name}\n${`The ${name} part changes. `.repeat(60)}`)
    .join('\n');

/** How much of a short text a task takes. */
function taskChars(task: string): number {
  const text = fitSummary({ ...summaryOf([]), task }, 1_500, chars4()) ?? '';
  return text.slice(text.indexOf('## Original Task'), text.indexOf('## Exact Lines')).length;
}

test('a plan with headings gets more of a short text than another task', () => {
  assert.ok(taskChars(parts('##')) > 1.4 * taskChars(parts('Part')));
});
