import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync, rmSync, existsSync } from 'node:fs';
import { providerServer, type ProviderStep, type DialectName } from '@bobbin/testing';
import { createServer } from 'node:http';

const [which = 'pi', stepsText = '30'] = process.argv.slice(2);
const steps = Number(stepsText);
const home = `/tmp/agentrun/${which}`;
rmSync(home, { recursive: true, force: true });
mkdirSync(`${home}/work`, { recursive: true });
for (let i = 0; i < 50; i++) writeFileSync(`${home}/work/file-${i}.txt`, Array.from({ length: 60 }, (_, l) => `line ${l} of file ${i}: the harbour has ${i * 7 + l} cranes and the tide is ${(i * l) % 13} m`).join('\n'));
const usage = ({ body }: { body: object }) => ({ inputTokens: Math.ceil(JSON.stringify(body).length / 3.6) });
const TOOL: Record<string, (i: number) => ProviderStep> = {
  pi: (i) => ({ kind: 'call', tool: 'bash', args: { command: `cat file-${i}.txt` }, usage }),
  opencode: (i) => ({ kind: 'call', tool: 'bash', args: { command: `cat file-${i}.txt`, description: 'Reads' }, usage }),
  codex: (i) => ({ kind: 'call', tool: 'exec_command', args: { cmd: `cat file-${i}.txt` }, usage }),
  claude: (i) => ({ kind: 'call', tool: 'Bash', args: { command: `cat file-${i}.txt`, description: 'Reads' }, usage }),
};
const dialect: DialectName = which === 'codex' ? 'openai-responses' : which === 'claude' ? 'anthropic' : process.argv[4] as DialectName ?? 'openai-chat';
const provider = await providerServer(dialect, ...Array.from({ length: steps }, (_, i) => TOOL[which]!(i % 50)), { forever: { kind: 'answer', text: 'All files are read. Done.', usage } });
// Side requests (titles and so on) without tools must not consume steps: answered here.
const front = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (c: Buffer) => chunks.push(c));
  incoming.on('end', async () => {
    const body = Buffer.concat(chunks);
    const json = body.length ? JSON.parse(body.toString()) : {};
    const isMain = Array.isArray(json.tools) && json.tools.length > 0;
    if (process.env.SHOW) console.error(incoming.method, incoming.url, body.length, isMain, Object.keys(incoming.headers).filter((h) => /session|thread|conv|origin/.test(h)), json.prompt_cache_key ?? json.metadata);
    if (!isMain || !/\/(chat\/completions|responses|messages)(\?|$)/.test(incoming.url!)) {
      if (dialect === 'anthropic' && /messages/.test(incoming.url!)) {
        const p2 = await providerServer('anthropic', { forever: { kind: 'answer', text: 'Harbour files' } });
        const r = await fetch(p2.origin + '/v1/messages', { method: 'POST', body, headers: { 'content-type': 'application/json', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' } });
        outgoing.writeHead(r.status, { 'content-type': r.headers.get('content-type')! }).end(Buffer.from(await r.arrayBuffer()));
        await p2.close();
        return;
      }
      if (/chat\/completions/.test(incoming.url!)) {
        const p2 = await providerServer('openai-chat', { forever: { kind: 'answer', text: 'Harbour files' } });
        const r = await fetch(p2.url + '/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: 'Bearer x' } });
        outgoing.writeHead(r.status, { 'content-type': r.headers.get('content-type')! }).end(Buffer.from(await r.arrayBuffer()));
        await p2.close();
        return;
      }
      outgoing.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
      return;
    }
    const headers: Record<string, string> = {};
    for (const [k, v] of Object.entries(incoming.headers)) if (!['host', 'connection', 'content-length', 'transfer-encoding'].includes(k)) headers[k] = String(v);
    const path = incoming.url!.split('?')[0]!;
    const r = await fetch(provider.origin + path, { method: 'POST', body, headers });
    outgoing.writeHead(r.status, { 'content-type': r.headers.get('content-type') ?? 'text/plain' }).end(Buffer.from(await r.arrayBuffer()));
  });
});
await new Promise<void>((r) => front.listen(0, '127.0.0.1', r));
const upstream = `http://127.0.0.1:${(front.address() as { port: number }).port}`;
const env: NodeJS.ProcessEnv = { PATH: `/tmp/agents/${which}/node_modules/.bin:${process.env.PATH}`, HOME: home, XDG_DATA_HOME: `${home}/data`, TERM: 'xterm',
  OPENAI_API_KEY: 'sk-test', CODEX_API_KEY: 'sk-test', ANTHROPIC_API_KEY: 'sk-ant-test', ANTHROPIC_MODEL: 'claude-haiku-4-5', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', MAX_THINKING_TOKENS: '0', DISABLE_AUTOUPDATER: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1', PI_OFFLINE: '1' };
const prompt = 'Read all files of this folder one by one.';
let args: string[] = [];
if (which === 'pi') {
  mkdirSync(`${home}/.pi/agent`, { recursive: true });
  args = ['-p', '--thinking', 'off', '--provider', dialect === 'anthropic' ? 'anthropic' : 'openai', '--model', dialect === 'anthropic' ? 'claude-haiku-4-5' : 'gpt-5', prompt];
}
if (which === 'claude') args = ['-p', '--dangerously-skip-permissions', prompt];
if (which === 'codex') args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-c', 'analytics.enabled=false', '-c', 'model="gpt-5"', ...(process.env.CODEX_ARGS?.split(' ') ?? []), prompt];
if (which === 'opencode') args = ['run', '-m', dialect === 'anthropic' ? 'anthropic/claude-haiku-4-5' : 'openai/gpt-5', prompt];
const t0 = Date.now();
const child = spawn(process.execPath, ['--conditions=@bobbin/source', '/work/w-gateway/packages/cli/bin/bobbin.mjs', 'wrap', '--port', '0', '--openai', upstream, '--anthropic', upstream, '--window', process.env.WINDOW ?? '32000', '--log-level', process.env.LOG ?? 'warn', '--', which, ...args], { cwd: `${home}/work`, env, stdio: ['ignore', 'pipe', 'pipe'] });
let out = '';
child.stdout.on('data', (d) => (out += d)); child.stderr.on('data', (d) => (out += d));
const timer = setTimeout(() => child.kill(), Number(process.env.MAX ?? 150) * 1000);
const code = await new Promise((r) => child.once('exit', r));
clearTimeout(timer);
console.log(out.slice(-2500));
let fault = 'no fault';
if (process.env.SHOW) { const b: any = provider.requests.at(-1)!.body; const m = (x: any) => JSON.stringify(x).match(/cache_control/g)?.length ?? 0; console.log('tools', m(b.tools), 'system', m(b.system), 'messages', b.messages.map((x: any) => m(x) + x.role[0] + JSON.stringify(x).length)); const p: any = provider.requests.at(-2)!.body; console.log('tools', m(p.tools), 'system', m(p.system), 'messages', p.messages.map((x: any) => m(x) + x.role[0] + JSON.stringify(x).length)); }
try { provider.expectDone(); } catch (e) { fault = String(e).slice(0, 600); }
const sizes = provider.requests.map(({ body }) => JSON.stringify(body).length);
console.log({ which, dialect, code, seconds: (Date.now() - t0) / 1000, requests: provider.requests.length, fault, first: sizes[0], longest: Math.max(...sizes), last: sizes.at(-1) });
await provider.close(); front.close(); process.exit(0);
