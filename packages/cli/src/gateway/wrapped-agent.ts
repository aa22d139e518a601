import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../failure.ts';

/** How an agent is started so that it asks a gateway. */
export interface WrappedAgent {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Removes what was made for it. */
  clean?(): void;
}

/** A gateway as an agent reaches it. */
export interface AgentGateway {
  readonly url: string;
  /** What the agent must send as x-bobbin-token, if the gateway demands one. */
  readonly token?: string;
}

type Wrap = (
  args: readonly string[],
  gateway: AgentGateway,
  env: NodeJS.ProcessEnv,
) => WrappedAgent;

/** How each known agent is given another base URL, by the name of its command. */
export const WRAPS: Readonly<Record<string, Wrap>> = {
  claude: (args, { url, token }, { ANTHROPIC_CUSTOM_HEADERS: own }) => ({
    args,
    env: {
      ANTHROPIC_BASE_URL: url,
      ...(token === undefined
        ? {}
        : { ANTHROPIC_CUSTOM_HEADERS: [...(own ? [own] : []), `${TOKEN}: ${token}`].join('\n') }),
    },
  }),
  codex(args, { url, token }) {
    if (token !== undefined)
      throw new UsageError(
        `codex cannot send the token that the gateway at ${url} demands: give another --port, at which one without a token is started`,
      );
    return { args: ['-c', `openai_base_url=${JSON.stringify(`${url}/v1`)}`, ...args], env: {} };
  },
  opencode: (args, gateway, env) => ({
    args,
    env: { OPENCODE_CONFIG_CONTENT: opencodeConfig(gateway, env['OPENCODE_CONFIG_CONTENT']) },
  }),
  pi: wrapPi,
};

const TOKEN = 'x-bobbin-token';

const headersOf = ({ token }: AgentGateway): { readonly headers?: Record<string, string> } =>
  token === undefined ? {} : { headers: { [TOKEN]: token } };

/** What the user's own inline configuration says stays. */
function opencodeConfig(gateway: AgentGateway, own: string | undefined): string {
  const config = (own === undefined ? {} : JSON.parse(own)) as {
    provider?: Record<string, { options?: { baseURL?: string; headers?: object } }>;
  };
  const { headers } = headersOf(gateway);
  const provider = { ...config.provider };
  for (const name of ['openai', 'anthropic'])
    provider[name] = {
      ...provider[name],
      options: {
        ...provider[name]?.options,
        baseURL: `${gateway.url}/v1`,
        ...(headers === undefined
          ? {}
          : { headers: { ...provider[name]?.options?.headers, ...headers } }),
      },
    };
  return JSON.stringify({ ...config, provider });
}

/** pi takes other addresses of its providers from an extension. */
function wrapPi(args: readonly string[], gateway: AgentGateway): WrappedAgent {
  const { url } = gateway;
  const provider = (baseUrl: string): string => JSON.stringify({ baseUrl, ...headersOf(gateway) });
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-wrap-'));
  const file = join(folder, 'gateway.js');
  writeFileSync(
    file,
    `export default (pi) => {
  pi.registerProvider('anthropic', ${provider(url)});
  pi.registerProvider('openai', ${provider(`${url}/v1`)});
};
`,
  );
  return {
    args: ['--extension', file, ...args],
    env: {},
    clean: () => rmSync(folder, { recursive: true, force: true }),
  };
}
