import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Part } from '@bobbin/core';
import type { Outcome } from '@bobbin/core/internal';
import { cpuMs } from '@bobbin/testing';
import { UNKNOWN_OUTCOME } from '../src/loop/unknown-outcome.ts';
import { themeFor } from '../src/tui/theme.ts';
import { ToolView } from '../src/tui/tool-view.ts';
import { Transcript } from '../src/tui/transcript.ts';

const theme = themeFor({ NO_COLOR: '1' });

test('a call is described by what it is about, under any name that its harness gives it', () => {
  const subjects: readonly (readonly [Record<string, string | boolean>, string])[] = [
    [{ replace_all: false, file_path: 'a.ts', old_string: 'x' }, 'a.ts'],
    [{ dryRun: true, filePath: 'b.ts' }, 'b.ts'],
    [{ notebook_path: 'c.ipynb', cell: 'x' }, 'c.ipynb'],
    [{ background: true, description: 'look around' }, 'look around'],
    [{ all: true }, 'true'],
  ];
  for (const [args, subject] of subjects)
    assert.deepEqual(new ToolView(theme, 'Edit', args).render(80), ['', `… Edit ${subject}`]);
});

test('a tool that puts out much is drawn as fast as one that puts out little', () => {
  const view = new ToolView(theme, 'bash', { command: 'yes' });
  const chunk = 'a line of output\n'.repeat(4_000);
  for (let i = 0; i < 750; i++) view.add(chunk);
  const took = cpuMs(() => {
    for (let i = 0; i < 20; i++) view.render(80);
  });
  assert.ok(took < 1_000, `${took} ms`);
  assert.deepEqual(view.render(80), [
    '',
    '… bash yes',
    '  … 2999996 earlier lines (Ctrl+O shows all)',
    ...Array.from({ length: 4 }, () => '  a line of output'),
  ]);
  view.finish('success', `${chunk}the result`);
  assert.deepEqual(view.render(80).slice(2), [
    '  … 3997 earlier lines (Ctrl+O shows all)',
    ...Array.from({ length: 3 }, () => '  a line of output'),
    '  the result',
  ]);
});

const call = (callId: string): Part => ({ kind: 'call', callId, tool: 'bash', args: '{}' });
const result = (callId: string, outcome: Outcome, text: string): Part => ({
  kind: 'result',
  callId,
  outcome,
  content: [{ kind: 'text', text }],
});

test('a call that a dead process left is not shown as done', () => {
  const transcript = new Transcript(theme);
  transcript.restart(
    [
      { role: 'assistant', parts: [call('a'), call('b'), call('c')] },
      {
        role: 'tool',
        parts: [
          result('a', 'partial', 'the first lines'),
          result('b', 'failure', 'no'),
          result('c', 'partial', UNKNOWN_OUTCOME),
        ],
      },
    ],
    2,
  );
  const heads = transcript.render(80).filter((line) => line.endsWith('bash'));
  assert.deepEqual(heads, ['✓ bash', '✗ bash', '? bash']);
});
