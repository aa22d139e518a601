// Real agents through `bobbin wrap`, against a scripted provider that is as strict as the real one. pi and OpenCode are
// installed once; others are taken from the folder that BOBBIN_AGENTS names, where each is installed in a folder of its
// name:
//
//   mkdir -p /tmp/agents/codex && npm install --prefix /tmp/agents/codex @openai/codex
//   BOBBIN_AGENTS=/tmp/agents npm run soak -- test/wrapped-agents.soak.ts
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isJsonObject, parseJson, type JsonObject } from '@bobbin/core/internal';
import { providerServer, type DialectName, type ProviderServer } from '@bobbin/testing';
import { installedHosts } from '../packages/adapters/test/hosts/installed-hosts.ts';

const SHIM = fileURLToPath(new URL('../packages/cli/bin/bobbin.mjs', import.meta.url));
const STEPS = Number(process.env['BOBBIN_STEPS'] ?? 40);
const WINDOW = '32000';
const FILES = 50;
const MOST_MS = 300_000;
const PROMPT = 'Read all files of this folder one by one.';

interface AgentCase {
  readonly dialect: DialectName;
  readonly args: readonly string[];
  /** How the model calls the agent's shell. */
  readonly call: (command: string) => readonly [tool: string, args: JsonObject];
}

const AGENTS: Readonly<Record<string, AgentCase>> = {
  claude: {
    dialect: 'anthropic',
    args: ['-p', '--dangerously-skip-permissions', PROMPT],
    call: (command) => ['Bash', { command, description: 'Reads a file' }],
  },
  codex: {
    dialect: 'openai-responses',
    args: [
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '-c',
      'analytics.enabled=false',
      '-c',
      'model="gpt-5"',
      PROMPT,
    ],
    call: (cmd) => ['exec_command', { cmd }],
  },
  opencode: {
    dialect: 'openai-responses',
    args: ['run', '-m', 'openai/gpt-5', PROMPT],
    call: (command) => ['bash', { command, description: 'Reads a file' }],
  },
  pi: {
    dialect: 'anthropic',
    args: [
      '-p',
      '--thinking',
      'off',
      '--provider',
      'anthropic',
      '--model',
      'claude-haiku-4-5',
      PROMPT,
    ],
    call: (command) => ['bash', { command }],
  },
};

/** Agents that are installed for tests. */
const HOSTS: ReadonlySet<string> = new Set(['pi', 'opencode']);

/** The folder of an agent's command; undefined if it is not installed. */
function commandFolder(name: string): string | undefined {
  const own = join(process.env['BOBBIN_AGENTS'] ?? '/nowhere', name, 'node_modules', '.bin');
  if (existsSync(join(own, name))) return own;
  return HOSTS.has(name) ? join(installedHosts(), 'node_modules', '.bin') : undefined;
}

/** Keeps agents from the network and from the user's own settings. */
function surroundings(bin: string, home: string): NodeJS.ProcessEnv {
  return {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    OPENAI_API_KEY: 'sk-scripted',
    CODEX_API_KEY: 'sk-scripted',
    ANTHROPIC_API_KEY: 'sk-scripted',
    ANTHROPIC_MODEL: 'claude-haiku-4-5',
    MAX_THINKING_TOKENS: '0',
    IS_SANDBOX: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    PI_OFFLINE: '1',
  };
}

const usage = ({ body }: { readonly body: JsonObject }): { readonly inputTokens: number } => ({
  inputTokens: Math.ceil(JSON.stringify(body).length / 3.6),
});

async function scripted({ dialect, call }: AgentCase): Promise<ProviderServer> {
  const steps = Array.from({ length: STEPS }, (_, i) => {
    const [tool, args] = call(`cat file-${i % FILES}.txt`);
    return { kind: 'call', tool, args, usage } as const;
  });
  const last = { kind: 'answer', text: 'All files are read. Done.', usage } as const;
  return providerServer(dialect, ...steps, { forever: last });
}

/** Titles and other side requests have no tools: they get an answer of their own, not a step of the script. */
async function inFront(main: ProviderServer, dialect: DialectName): Promise<Server> {
  const side = await providerServer(dialect, { forever: { kind: 'answer', text: 'Files' } });
  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing, main.origin, side.origin).catch(() => outgoing.destroy());
  });
  server.once('close', () => void side.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  main: string,
  side: string,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  const body = parseJson(text);
  const tools = isJsonObject(body) ? body['tools'] : undefined;
  const isMain = Array.isArray(tools) && tools.length > 0;
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of ['authorization', 'x-api-key', 'anthropic-version']) {
    const value = incoming.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const [path = '/'] = (incoming.url ?? '/').split('?', 1);
  const response = await fetch((isMain ? main : side) + path, {
    method: incoming.method ?? 'POST',
    headers,
    ...(text === '' ? {} : { body: text }),
  });
  outgoing.writeHead(response.status, {
    'content-type': response.headers.get('content-type') ?? 'text/plain',
  });
  outgoing.end(Buffer.from(await response.arrayBuffer()));
}

function filesIn(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from(
      { length: 60 },
      (_, line) => `line ${line} of file ${file}: the harbour has ${file * 7 + line} cranes`,
    );
    writeFileSync(join(folder, `file-${file}.txt`), lines.join('\n'));
  }
}

/** What an agent wrote, and how it ended. */
async function output(
  name: string,
  { args }: AgentCase,
  { upstream, work, env }: { upstream: string; work: string; env: NodeJS.ProcessEnv },
): Promise<readonly [code: number | null, text: string]> {
  const to = ['--port', '0', '--openai', upstream, '--anthropic', upstream, '--window', WINDOW];
  const all = [SHIM, 'wrap', ...to, '--', name, ...args];
  const child = spawn(process.execPath, all, {
    cwd: work,
    env,
    timeout: MOST_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => (text += String(piece)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return [code, text];
}

async function finishes(t: TestContext, name: string, agent: AgentCase): Promise<void> {
  const bin = commandFolder(name);
  if (bin === undefined) return t.skip(`${name} is not installed in the folder BOBBIN_AGENTS`);
  const home = mkdtempSync(join(tmpdir(), `bobbin-${name}-`));
  const work = join(home, 'work');
  filesIn(work);
  const provider = await scripted(agent);
  const front = await inFront(provider, agent.dialect);
  t.after(async () => {
    front.closeAllConnections();
    front.close();
    await provider.close();
    rmSync(home, { recursive: true, force: true });
  });
  const upstream = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  const env = surroundings(bin, home);
  const [code, text] = await output(name, agent, { upstream, work, env });
  assert.equal(code, 0, text.slice(-2_000));
  provider.expectDone();
  assert.match(text, /^bobbin: \d+ steps, [1-9]\d* compactions?; input worth \d/m);
  return undefined;
}

for (const [name, agent] of Object.entries(AGENTS))
  test(`B18 the real ${name} reads ${STEPS} files through bobbin wrap, compacted on the way`, (t) =>
    finishes(t, name, agent));
