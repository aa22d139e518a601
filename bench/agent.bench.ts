// How long a person waits: until the prompt of the agent stands in a real terminal, and until a session of 5 000 messages
// is open again, wound or whole, for a model without a tokenizer, with a public one, and with none that is public. All
// from the start of the command, with the compile cache warm. To open a session nobody is asked, so that any key does.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBobbin, type Message } from '@bobbin/core';
import { jsonlStore } from '@bobbin/stores';
import { projectName } from '../packages/agent/src/session/session-id.ts';
import { TestTerminal } from '../packages/agent/test/terminal.ts';

const RUNS = 7;
const WARM_UP = 2;
const MESSAGES = 5_000;
const PROMPT_LIMIT_MS = 300;
const RESUME_LIMIT_MS = 500;

const MODELS = ['scripted/echo', 'openai/gpt-6.1', 'anthropic/claude-sonnet-5-5'];
const SESSIONS = [
  ['wound', '20260101-000000-aaaaaa', 64_000],
  ['whole', '20260101-000000-bbbbbb', 10_000_000],
] as const;

const home = mkdtempSync(join(tmpdir(), 'bobbin-bench-'));
const project = join(home, 'project');
mkdirSync(project);
try {
  print('first prompt', await measure('scripted/echo', [], 'bobbin in'), PROMPT_LIMIT_MS);
  for (const [how, session, window] of SESSIONS) {
    await fill(session, window);
    for (const model of MODELS) {
      const times = await measure(model, ['--session', session], 'module-1249');
      print(`${MESSAGES} messages, ${how}, ${model}`, times, RESUME_LIMIT_MS);
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Starts the program again and again until some text stands on its screen. */
async function measure(
  model: string,
  args: readonly string[],
  text: string,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + RUNS; i++) {
    const started = performance.now();
    const terminal = new TestTerminal(['--model', model, ...args], {
      cwd: project,
      home,
      env: { OPENAI_API_KEY: 'none', ANTHROPIC_API_KEY: 'none' },
    });
    await terminal.until(text);
    times.push(performance.now() - started);
    // What is killed keeps no compiled code: the first runs end by themselves, so that the cache is warm behind them.
    if (i < WARM_UP) process.kill(terminal.pid, 'SIGTERM');
    else terminal.kill();
    await terminal.ended();
  }
  return times.slice(WARM_UP).toSorted((a, b) => a - b);
}

/** A session of many turns with calls, wound by the engine on the way where the window asks for it. */
async function fill(session: string, window: number): Promise<void> {
  const store = jsonlStore(join(home, 'data', 'bobbin', 'sessions'), { sync: 'normal' });
  const bobbin = createBobbin({ store, tenant: projectName(project), window });
  const thread = await bobbin.thread(session);
  for (let i = 0; thread.length < MESSAGES; i++) {
    await thread.append(...turn(i));
    await thread.prompt();
  }
  await store.close();
}

function turn(i: number): readonly Message[] {
  const path = `src/module-${i}/file-${i % 17}.ts`;
  const text = Array.from({ length: 60 }, (_, word) => `word${(i * 7 + word) % 997}`).join(' ');
  return [
    { role: 'user', parts: [{ kind: 'text', text: `Look at ${path}` }] },
    {
      role: 'assistant',
      parts: [{ kind: 'call', callId: `c${i}`, tool: 'read', args: JSON.stringify({ path }) }],
    },
    {
      role: 'tool',
      parts: [{ kind: 'result', callId: `c${i}`, content: [{ kind: 'text', text }] }],
    },
    { role: 'assistant', parts: [{ kind: 'text', text: `In ${path}: ${text}` }] },
  ];
}

function print(name: string, times: readonly number[], limitMs: number | undefined): void {
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN;
  const spread = `${Math.round(times[0] ?? 0)}–${Math.round(times.at(-1) ?? 0)}`;
  const limit = limitMs === undefined ? '' : `, limit ${limitMs}`;
  console.log(`${name.padEnd(50)} ${Math.round(median)} ms (${spread}${limit})`);
  if (limitMs !== undefined && median > limitMs) process.exitCode = 1;
}
