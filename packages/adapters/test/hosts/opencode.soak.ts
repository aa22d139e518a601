import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Task } from '../task.ts';
import { taskProvider, type Dialect, type TaskProvider } from '../task-provider.ts';
import { installedHosts } from './installed-hosts.ts';

const PACKAGE = join(import.meta.dirname, '../..');
const STEPS = 60;
/** OpenCode's own instructions and tools take a third of it; the plugin knows them only by what answers report. */
const WINDOW = 24_000;

/** A plugin with the task's tool, and Bobbin's, which notes its compactions. */
function pluginSource(hosts: string): string {
  return `
import { appendFileSync } from 'node:fs';
import { tool } from ${JSON.stringify(join(hosts, 'node_modules/@opencode-ai/plugin/dist/index.js'))};
import { bobbinPlugin } from ${JSON.stringify(join(PACKAGE, 'dist/opencode/opencode.js'))};
import { Task } from ${JSON.stringify(join(PACKAGE, 'test/task.ts'))};
const task = new Task(${STEPS});
const { number, string } = tool.schema;
const run_step = tool({
  description: 'Carries out a step.',
  args: { step: number(), key: string(), signed: string() },
  execute: async (args) => task.runStep(args),
});
export const Steps = async () => ({ tool: { run_step } });
export const Bobbin = bobbinPlugin({
  window: ${WINDOW},
  onEvent({ kind }) {
    if (kind === 'completed') appendFileSync('compactions', kind + '\\n');
  },
});
`;
}

/** Writes what OpenCode reads in a folder: its settings, with the provider at the URL, and the plugins. */
function settle(folder: string, npm: string, baseURL: string, context: number = WINDOW): void {
  const hosts = installedHosts();
  const limit = { context, output: 1_000 };
  const thinking = { type: 'enabled', budgetTokens: 1_024 };
  const isAnthropic = npm === '@ai-sdk/anthropic';
  const scripted = {
    tool_call: true,
    reasoning: true,
    limit,
    ...(isAnthropic ? { options: { thinking } } : {}),
  };
  const options = { baseURL, apiKey: 'scripted' };
  const mock = { npm, options, models: { scripted } };
  const settings = {
    model: 'mock/scripted',
    plugin: ['./plugin.js'],
    provider: { mock },
    snapshot: false,
  };
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(settings));
  writeFileSync(join(folder, 'plugin.js'), pluginSource(hosts));
  // OpenCode installs the plugins' package beside its settings, unless both of these say that it is there.
  const config = join(folder, 'config/opencode');
  mkdirSync(config, { recursive: true });
  symlinkSync(join(hosts, 'node_modules'), join(config, 'node_modules'));
  copyFileSync(join(hosts, 'package-lock.json'), join(config, 'package-lock.json'));
}

/** OpenCode at home in a folder, with nothing to fetch. It works in PWD, wherever it is started. */
function environment(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: folder,
    PWD: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'data'),
    XDG_STATE_HOME: join(folder, 'state'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  };
}

const PROVIDERS: readonly (readonly [Dialect, npm: string])[] = [
  ['openai-chat', '@ai-sdk/openai-compatible'],
  ['anthropic', '@ai-sdk/anthropic'],
];

/** What OpenCode says at the end of the task. */
async function work(folder: string): Promise<string> {
  const cli = join(installedHosts(), 'node_modules/opencode-ai/bin/opencode.exe');
  // A session with a title asks for none.
  const args = ['run', '--title', 'Ledger', new Task(STEPS).assignment];
  const options = { cwd: folder, timeout: 900_000, env: environment(folder) };
  const running = promisify(execFile)(cli, args, options);
  running.child.stdin?.end();
  return (await running).stdout.trim();
}

/** A provider and an empty folder, until the test ends. */
async function workplace(t: TestContext, dialect: Dialect): Promise<[TaskProvider, string]> {
  const provider = await taskProvider(dialect, new Task(STEPS), WINDOW);
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-opencode-'));
  t.after(async () => {
    await provider.close();
    rmSync(folder, { recursive: true });
  });
  return [provider, folder];
}

const DONE = `DONE ${STEPS} steps as HERON-7731`;

for (const [dialect, npm] of PROVIDERS)
  test(`C18 C23 H1 the real OpenCode finishes its task across compactions of the plugin: ${dialect}`, async (t) => {
    const [provider, folder] = await workplace(t, dialect);
    settle(folder, npm, provider.url);
    assert.equal(await work(folder), DONE, provider.faults.join('\n'));
    assert.deepEqual(provider.faults, []);
    const compactions = readFileSync(join(folder, 'compactions'), 'utf8').trim().split('\n').length;
    assert.ok(compactions >= 2, `${compactions}`);
    assert.equal(provider.shrunk, compactions);
    assert.equal(provider.thinking, dialect === 'anthropic' ? provider.sizes.length : 0);
    assert.ok((provider.sizes[0] ?? 0) > WINDOW / 4, 'what the plugin does not see is large');
  });

test('B11 the real OpenCode, compacting by itself, gets the rule each time and finishes its task', async (t) => {
  const [provider, folder] = await workplace(t, 'openai-chat');
  settle(folder, '@ai-sdk/openai-compatible', provider.url, 20_000);
  const end = (await work(folder)).split('\n').at(-1);
  assert.equal(end, DONE, provider.faults.join('\n'));
  assert.deepEqual(provider.faults, []);
  assert.ok(provider.shrunk >= 3, `${provider.shrunk}`);
});

/** A session over two processes of OpenCode's own runtime, which has no node:sqlite. */
const IN_BUN = `
import { createBobbin, textMessage } from ${JSON.stringify(join(PACKAGE, '../core/dist/index.js'))};
import { folderArtifacts, jsonlStore } from ${JSON.stringify(join(PACKAGE, '../stores/dist/index.js'))};
const store = jsonlStore('sessions');
const thread = await createBobbin({ store, artifacts: folderArtifacts('artifacts') }).thread('t');
await thread.append(textMessage('user', 'Said in process ' + thread.length + '.'));
console.log(JSON.stringify(thread.messages.map(({ parts }) => parts[0].text)));
`;

test("H4 session files and artifacts work in OpenCode's runtime, which has no node:sqlite", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-bun-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'program.mjs'), IN_BUN);
  const cli = join(installedHosts(), 'node_modules/opencode-ai/bin/opencode.exe');
  const env = { ...process.env, BUN_BE_BUN: '1' };
  const run = async (): Promise<string> => {
    const { stdout } = await promisify(execFile)(cli, ['run', 'program.mjs'], { cwd: folder, env });
    return stdout.trim();
  };
  assert.equal(await run(), '["Said in process 0."]');
  assert.equal(await run(), '["Said in process 0.","Said in process 1."]');
});
