import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder, TestTerminal, type TerminalOptions } from './terminal.ts';
import { writeScript } from './workshop.ts';

/** Does N steps of a task; knows from its own last command where it is. Summaries take a moment, so that one can type. */
export const STEPPER: string = `
  if (tools.length === 0) return { delayMs: 1200, text: 'SUMMARY of the steps so far' };
  const asked = /^do (\\d+) steps/.exec(last.role === 'user' ? last.text : '');
  const at = /step (\\d+) of (\\d+)/.exec(lastCall?.args.command ?? '');
  const done = asked ? 0 : Number(at?.[1] ?? 0);
  const total = asked ? Number(asked[1]) : Number(at?.[2] ?? 0);
  if (last.role === 'user' && !asked && (at === null || done >= total)) return { text: 'Heard: ' + last.text.split('\\n')[0] };
  if (done >= total) return { text: 'All ' + total + ' steps are **done**.' };
  const heard = last.role === 'user' && !asked ? 'Heard: ' + last.text + '. ' : '';
  return { text: heard + 'Step ' + (done + 1), calls: [{ tool: 'bash', args: { command: 'echo step ' + (done + 1) + ' of ' + total + '; seq -f "line %g of output" 1 120' } }] };
`;

export const EDITOR: string = `
  if (last.role === 'user' && last.text === 'change it') return { text: 'I change it:', calls: [{ tool: 'edit', args: { path: 'a.txt', old: 'two', new: 'TWO' } }] };
  if (last.role === 'user' && last.text === 'run it') return { calls: [{ tool: 'bash', args: { command: 'echo ran' } }] };
  if (last.role === 'tool') return { text: 'Result: ' + last.text.split('\\n')[0].replace(/\\S*\\//, '') };
  return { text: '# A heading\\n\\nSome *markdown* with \`code\`:\\n\\n- one\\n- two\\n\\nYou wrote ' + last.text.split('\\n').length + ' lines.' };
`;

/** Longer than a question does not listen to begin with. */
export const SEEN_MS = 450;

export interface Place extends TerminalOptions {
  readonly model: string;
}

export function place(t: TestContext, script: string, window: number = 16_000): Place {
  const home = temporaryFolder(t);
  const cwd = join(home, 'project');
  mkdirSync(cwd);
  return { home, cwd, model: `scripted/${writeScript(home, script)}@${window}` };
}

export function open(t: TestContext, where: Place, ...args: readonly string[]): TestTerminal {
  const terminal = new TestTerminal(['--model', where.model, ...args], where);
  t.after(() => terminal.kill());
  return terminal;
}
