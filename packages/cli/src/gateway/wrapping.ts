import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { runGateway, variableOf, type GatewaySettings } from '@bobbin/gateway';
import { EXIT, writeError, UsageError } from '../failure.ts';
import { counted } from '../output/figures.ts';
import type { GatewayValues } from '../commands/serve.ts';
import { settingsOf, started, USUAL_PORT } from './serving.ts';
import { WRAPS, type AgentGateway, type WrappedAgent } from './wrapped-agent.ts';

/** What is needed of a gateway while an agent runs. */
interface UsedGateway extends AgentGateway {
  /** What requests since a time came to. */
  sumSince(at: number): Promise<Sum>;
  /** Whose requests these are: other clients may use a gateway that runs already. */
  readonly users: 'the agent' | 'all clients';
  close(): Promise<void>;
}

interface Sum {
  readonly requests: number;
  readonly compactions: number;
  readonly fullTokens: number;
  readonly savedTokens: number;
}

const LOOK_MS = 500;

/** Runs an agent through a gateway, and says what was saved. */
export async function wrapAgent(
  [program, ...args]: readonly string[],
  values: GatewayValues,
): Promise<number> {
  const wrap = program === undefined ? undefined : WRAPS[basename(program)];
  if (program === undefined || wrap === undefined)
    throw new UsageError(
      `give -- and one of ${Object.keys(WRAPS).join(', ')}${program === undefined ? '' : `, not ${JSON.stringify(program)}`}`,
    );
  const gateway = await gatewayFor(values);
  const since = Date.now();
  try {
    const agent = wrap(args, gateway, process.env);
    const code = await ran(program, agent);
    agent.clean?.();
    writeError(await savedSince(gateway, since));
    return code;
  } finally {
    await gateway.close();
  }
}

/** The gateway that runs at the port, or a new one that only this machine can reach, and that needs no token. */
async function gatewayFor(values: GatewayValues): Promise<UsedGateway> {
  const settings = settingsOf({ 'log-level': 'silent', ...upstreamsFrom(process.env), ...values });
  const { port = USUAL_PORT, token: _, host: __, ...options } = settings.options;
  const url = `http://127.0.0.1:${port}`;
  if (port !== 0 && (await isGateway(url))) return runningAt(url, settings.options, values);
  const own = { ...settings, options: { ...options, port } };
  const gateway = await started(() => runGateway(own, process.env));
  return { ...gateway, users: 'the agent' };
}

/** The variable that gives an agent another address, by the setting that takes it over. */
const BASE_URLS = { anthropic: 'ANTHROPIC_BASE_URL', openai: 'OPENAI_BASE_URL' } as const;

type Provider = keyof typeof BASE_URLS;

/** Where the agent would have sent its requests by itself, unless that is this machine's gateway at the usual port. */
export function upstreamsFrom(env: NodeJS.ProcessEnv): Partial<Record<Provider, string>> {
  const upstreams: Partial<Record<Provider, string>> = {};
  for (const provider of ['anthropic', 'openai'] as const) {
    const url = env[BASE_URLS[provider]] ?? '';
    const hasSetting = (env[variableOf(provider)] ?? '') !== '';
    if (url !== '' && !hasSetting && !isLocalAt(url, USUAL_PORT)) upstreams[provider] = url;
  }
  return upstreams;
}

/** Addresses that lead to this machine. A connection to 0.0.0.0 or [::] does too. */
const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

function isLocalAt(address: string, port: number): boolean {
  const url = URL.parse(address);
  return url !== null && url.port === `${port}` && THIS_MACHINE.test(url.hostname);
}

async function isGateway(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(LOOK_MS) });
    const health = (await response.json()) as { gateway?: unknown };
    return health.gateway === 'bobbin';
  } catch {
    return false;
  }
}

/** Options that say how to reach a gateway, not what it does. */
const REACHING: ReadonlySet<string> = new Set([
  'port',
  'token',
  'api-token',
  'config',
  'log-level',
]);

function unusedOptions(values: GatewayValues): readonly string[] {
  return Object.keys(values).flatMap((name) => (REACHING.has(name) ? [] : [`--${name}`]));
}

/** The variables whose addresses the agent would have used by itself, unless they lead to the gateway at a port. */
function unusedVariables(values: GatewayValues, port: number): readonly string[] {
  return (['anthropic', 'openai'] as const).flatMap((provider) => {
    const url = upstreamsFrom(process.env)[provider];
    const isUnused = url !== undefined && values[provider] === undefined && !isLocalAt(url, port);
    return isUnused ? [BASE_URLS[provider]] : [];
  });
}

function runningAt(
  url: string,
  { token, apiToken = token }: GatewaySettings['options'],
  values: GatewayValues,
): UsedGateway {
  const unused = [...unusedOptions(values), ...unusedVariables(values, Number(new URL(url).port))];
  if (unused.length > 0)
    writeError(
      `${unused.join(', ')} not used: the gateway at ${url} runs already, with settings of its own`,
    );
  const headers = apiToken === undefined ? {} : { 'x-bobbin-token': apiToken };
  return {
    url,
    users: 'all clients',
    ...(token === undefined ? {} : { token }),
    async sumSince(at) {
      const response = await fetch(`${url}/bobbin/v1/ledger?since=${at}`, { headers });
      if (response.status === 401 || response.status === 403)
        throw new Error('its API demands a token: give --api-token');
      if (!response.ok) throw new Error(`it answers ${response.status}`);
      return (await response.json()) as Sum;
    },
    close: async () => undefined,
  };
}

/** Keeps the gateway running while its agent answers a signal. */
function ignore(): void {}

/** The agent's exit code. It has the terminal: an interrupt from there reaches both, any other signal is passed on. */
async function ran(program: string, { args, env }: WrappedAgent): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', ignore).on('SIGTERM', passOn).on('SIGHUP', passOn);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT'
          ? reject(new UsageError(`${program} is not installed, or not on the PATH`))
          : reject(error),
      );
      child.once('exit', (code, signal) => resolve(code ?? signalled(signal)));
    });
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', passOn).off('SIGHUP', passOn);
  }
}

/** The exit code that a shell gives to a program that a signal ended. */
function signalled(signal: NodeJS.Signals | null): number {
  return signal === null ? EXIT.failed : 128 + constants.signals[signal];
}

/** What was saved, or why that is not known. */
async function savedSince(gateway: UsedGateway, at: number): Promise<string> {
  try {
    const sum = await gateway.sumSince(at);
    if (sum.requests === 0)
      return `no request to a model came through the gateway at ${gateway.url}, the address that the agent was given`;
    const line = savedLine(sum);
    return gateway.users === 'the agent' ? line : `${line}, by all clients of the gateway`;
  } catch (error) {
    return `what was saved is not known: the gateway at ${gateway.url} failed: ${(error as Error).message}`;
  }
}

/** What was saved, or that nothing is known of it. */
function savedLine({ requests, compactions, fullTokens, savedTokens: saved }: Sum): string {
  const steps = `${counted(requests, 'step')}, ${counted(compactions, 'compaction')}`;
  if (fullTokens === 0)
    return `${steps}; what was saved is not known: the provider did not answer, refused, or reported no usage`;
  const share = Math.round((100 * saved) / fullTokens);
  const what = saved < 0 ? 'cost more, net' : 'saved, net';
  return `${steps}; input worth ${Math.abs(saved).toLocaleString('en')} tokens ${what} (${Math.abs(share)} % of ${fullTokens.toLocaleString('en')})`;
}
