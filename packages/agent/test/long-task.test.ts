import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { bpe } from '@bobbin/models';
import { volume } from '@bobbin/testing/volume';
import { toolbox, toolSchemas } from '../src/tools/toolbox.ts';
import { ofType, workshop } from './workshop.ts';

const STEPS = volume(60, 300);
const WINDOW = 16_000;
const RULE = 'RULE-7: every file must end with the line "-- checked --".';

/**
 * A model that plays many steps: it writes a file, reads it back, edits it, searches, runs a command. What it does next
 * it reads from its own last call; what it writes depends on the rule, which it obeys only where it sees it.
 */
const script = (steps: number): string => `
  if (tools.length === 0) return { text: 'Files are being made one after another; the work goes on with the next one.' };
  const sees = messages.some(({ text }) => text.includes('RULE-7'));
  const made = lastCall?.args;
  const step = last.role === 'user' && last.text.startsWith('make') ? 0 : Number(/#(\\d+)/.exec(JSON.stringify(made ?? {}))?.[1] ?? -1);
  const next = step + 1;
  if (step < 0) return { text: 'I do not know where I am.' };
  if (next > ${steps}) return { text: 'All is done.' };
  const file = 'parts/part-' + String(Math.ceil(next / 5)).padStart(3, '0') + '.txt';
  const ending = sees ? '-- checked --' : '-- unchecked --';
  const filler = Array.from({ length: 30 }, (_, i) => 'line ' + i + ' of step ' + next + ' with some words to fill the window').join('\\n');
  const call = [
    () => ({ tool: 'write', args: { path: file, content: '#' + next + '\\n' + filler + '\\n' + ending } }),
    () => ({ tool: 'read', args: { path: file, offset: 0, limit: 400, mark: '#' + next } }),
    () => ({ tool: 'edit', args: { path: file, old: 'line 3 of', new: 'LINE THREE of', mark: '#' + next } }),
    () => ({ tool: 'grep', args: { pattern: 'LINE THREE', glob: 'parts/*.txt', mark: '#' + next } }),
    () => ({ tool: 'bash', args: { command: 'wc -l ' + file + '; tail -n 1 ' + file + ' #' + next } }),
  ][(next - 1) % 5]();
  return { text: 'Step ' + next + '.', calls: [call] };
`;

test(`C23 B16 Must show 2: ${STEPS} steps in a 16k window on a real repository; every request fits, the rule holds`, async (t) => {
  const { agent, folders, events, line, requests } = await workshop(t, {
    script: script(STEPS),
    windowTokens: WINDOW,
    files: { 'AGENTS.md': `# Orders\n\n${RULE}\n`, 'README.md': 'A project.\n' },
  });
  assert.equal(await line('make the parts'), 'done');
  assert.deepEqual(ofType(events, 'error'), []);
  assert.equal(ofType(events, 'assistant').at(-1)?.text, 'All is done.');
  assert.equal(ofType(events, 'tool-end').length, STEPS);
  assert.deepEqual(
    ofType(events, 'tool-end').filter(({ outcome }) => outcome === 'failure'),
    [],
  );
  for (let part = 1; part <= STEPS / 5; part++) {
    const lines = readFileSync(
      join(folders.project, `parts/part-${String(part).padStart(3, '0')}.txt`),
      'utf8',
    ).split('\n');
    assert.deepEqual(
      [lines[0], lines[4], lines.at(-1), lines.length],
      [
        `#${part * 5 - 4}`,
        `LINE THREE of step ${part * 5 - 4} with some words to fill the window`,
        '-- checked --',
        32,
      ],
    );
  }
  // Counted by a public tokenizer, not by the engine: everything that was sent, with system prompt and tools.
  const counter = await bpe('o200k');
  const schemas = JSON.stringify(toolSchemas(toolbox(folders.project)));
  const work = requests().filter(({ tools }) => tools.length > 0);
  const sizes = work.map(({ messages }) => counter.text(schemas + JSON.stringify(messages)));
  assert.equal(work.length, STEPS + 1);
  assert.ok(Math.max(...sizes) <= WINDOW, `the largest request has ${Math.max(...sizes)} tokens`);
  assert.ok(work.every(({ messages }) => messages.some(({ text }) => text.includes(RULE))));
  const compactions = ofType(events, 'compaction-end');
  assert.ok(compactions.length >= STEPS / 60, `${compactions.length} compactions`);
  assert.equal((await agent.session.path()).length, 2 + 2 * STEPS);
  t.diagnostic(
    `${compactions.length} compactions; requests of ${Math.min(...sizes)} to ${Math.max(...sizes)} tokens`,
  );
});

test('C23 a rule pinned in words outlives all compactions, word for word', async (t) => {
  const { agent, events, line, requests } = await workshop(t, {
    script: script(volume(50, 140)),
    windowTokens: 10_000,
  });
  await line(`/pin ${RULE}`);
  await line('make the parts');
  const work = requests().filter(({ tools }) => tools.length > 0);
  assert.ok(
    work.every(({ messages }) =>
      messages.some(({ role, text }) => role === 'user' && text === RULE),
    ),
  );
  const compactions = ofType(events, 'compaction-end').length;
  assert.ok(compactions >= volume(3, 10), `${compactions} compactions`);
  assert.equal(agent.isIdle, true);
});
