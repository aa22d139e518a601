import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Task } from '../task.ts';
import { taskProvider } from '../task-provider.ts';
import { installedHosts } from './installed-hosts.ts';

const PACKAGE = join(import.meta.dirname, '../..');

/** An extension with the task's tool, and Bobbin's. */
const EXTENSION = `
import { bobbinExtension } from ${JSON.stringify(join(PACKAGE, 'dist/pi/pi.js'))};
import { STEP_SCHEMA, Task } from ${JSON.stringify(join(PACKAGE, 'test/task.ts'))};
const task = new Task(80);
export default (pi) => {
  pi.registerTool({
    name: 'run_step', label: 'run_step', description: 'Carries out a step.', parameters: STEP_SCHEMA,
    execute: async (_id, args) => ({ content: [{ type: 'text', text: task.runStep(args) }], details: {} }),
  });
  bobbinExtension()(pi);
};
`;

for (const dialect of ['openai-chat', 'anthropic'] as const)
  test(`B10 H1 the real pi compacts with the summaries of the extension and finishes its task: ${dialect}`, (t) =>
    finishes(t, dialect));

async function finishes(t: TestContext, dialect: 'openai-chat' | 'anthropic'): Promise<void> {
  const provider = await taskProvider(dialect, new Task(80), 16_000);
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-pi-'));
  t.after(async () => {
    await provider.close();
    rmSync(folder, { recursive: true });
  });
  const isAnthropic = dialect === 'anthropic';
  const model = {
    id: 'scripted',
    contextWindow: 16_000,
    maxTokens: isAnthropic ? 4_000 : 1_000,
    reasoning: isAnthropic,
  };
  const mock = {
    // Anthropic's client adds the version itself.
    baseUrl: isAnthropic ? provider.url.replace(/\/v1$/, '') : provider.url,
    api: isAnthropic ? 'anthropic-messages' : 'openai-completions',
    apiKey: 'scripted',
    models: [model],
  };
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { mock } }));
  const compaction = { enabled: true, reserveTokens: 4_000, keepRecentTokens: 4_000 };
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ compaction }));
  writeFileSync(join(folder, 'extension.ts'), EXTENSION);
  const cli = join(
    installedHosts(),
    'node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js',
  );
  const running = promisify(execFile)(
    process.execPath,
    [
      cli,
      '--print',
      '--provider',
      'mock',
      '--model',
      'scripted',
      ...(isAnthropic ? ['--thinking', 'low'] : []),
      '--session-dir',
      folder,
      '--no-builtin-tools',
      '--extension',
      join(folder, 'extension.ts'),
      new Task(80).assignment,
    ],
    {
      cwd: folder,
      timeout: 900_000,
      env: { ...process.env, PI_OFFLINE: '1', PI_CODING_AGENT_DIR: folder },
    },
  );
  // Pi reads what is piped to it before it begins.
  running.child.stdin?.end();
  const { stdout } = await running;
  assert.equal(stdout.trim(), 'DONE 80 steps as HERON-7731', provider.faults.join('\n'));
  assert.deepEqual(provider.faults, []);
  assert.equal(provider.thinking, isAnthropic ? provider.sizes.length : 0);
  const file = readdirSync(folder).find((name) => name.endsWith('.jsonl')) ?? '';
  const lines = readFileSync(join(folder, file), 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const compactions = entries.filter(({ type }) => type === 'compaction');
  assert.ok(compactions.length >= 1);
  for (const { fromHook, summary } of compactions) {
    assert.equal(fromHook, true);
    assert.match(String(summary), /sign every step as HERON-7731/);
  }
}
