import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { runGateway } from '@bobbin/gateway';
import { EXIT, writeError, UsageError } from '../failure.ts';
import { counted } from '../output/figures.ts';
import type { GatewayValues } from '../commands/serve.ts';
import { settingsOf, started, USUAL_PORT } from './serving.ts';
import { WRAPS, type WrappedAgent } from './wrapped-agent.ts';

/** What is needed of a gateway while an agent runs. */
interface UsedGateway {
  readonly url: string;
  sumSince(at: number): Promise<Sum>;
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
    const agent = wrap(args, gateway.url, process.env);
    const code = await ran(program, agent);
    agent.clean?.();
    writeError(savedLine(await gateway.sumSince(since)));
    return code;
  } finally {
    await gateway.close();
  }
}

/** The gateway that runs at the port, or a new one. */
async function gatewayFor(values: GatewayValues): Promise<UsedGateway> {
  const settings = settingsOf({ 'log-level': 'silent', ...values });
  const { port = USUAL_PORT, token } = settings.options;
  const url = `http://127.0.0.1:${port}`;
  if (await isGateway(url)) return runningAt(url, token);
  return started(() => runGateway(settings, process.env));
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

function runningAt(url: string, token: string | undefined): UsedGateway {
  const headers = token === undefined ? {} : { 'x-bobbin-token': token };
  return {
    url,
    async sumSince(at) {
      const response = await fetch(`${url}/bobbin/v1/ledger?since=${at}`, { headers });
      return (await response.json()) as Sum;
    },
    close: async () => undefined,
  };
}

/** Keeps the gateway running while its agent answers a signal. */
function ignore(): void {}

/** The agent's exit code. It has the terminal; a signal to both is the agent's to answer. */
function ran(program: string, { args, env }: WrappedAgent): Promise<number> {
  process.on('SIGINT', ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT'
        ? reject(new UsageError(`${program} is not installed, or not on the PATH`))
        : reject(error),
    );
    child.once('exit', (code) => resolve(code ?? EXIT.failed));
  }).finally(() => process.off('SIGINT', ignore));
}

/** What was saved, or that nothing was. */
function savedLine({ requests, compactions, fullTokens, savedTokens: saved }: Sum): string {
  const steps = `${counted(requests, 'step')}, ${counted(compactions, 'compaction')}`;
  if (fullTokens === 0) return `${steps}; the provider reported no usage`;
  const share = Math.round((100 * saved) / fullTokens);
  const what = saved < 0 ? 'cost more, net' : 'saved, net';
  return `${steps}; input worth ${Math.abs(saved).toLocaleString('en')} tokens ${what} (${Math.abs(share)} % of ${fullTokens.toLocaleString('en')})`;
}
