import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How an agent is started so that it asks a gateway. */
export interface WrappedAgent {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Removes what was made for it. */
  clean?(): void;
}

type Wrap = (args: readonly string[], url: string, env: NodeJS.ProcessEnv) => WrappedAgent;

/** How each known agent is given another base URL, by the name of its command. */
export const WRAPS: Readonly<Record<string, Wrap>> = {
  claude: (args, url) => ({ args, env: { ANTHROPIC_BASE_URL: url } }),
  codex: (args, url) => ({
    args: ['-c', `openai_base_url=${JSON.stringify(`${url}/v1`)}`, ...args],
    env: {},
  }),
  opencode: (args, url, env) => ({
    args,
    env: { OPENCODE_CONFIG_CONTENT: opencodeConfig(`${url}/v1`, env['OPENCODE_CONFIG_CONTENT']) },
  }),
  pi: wrapPi,
};

/** What the user's own inline configuration says stays. */
function opencodeConfig(baseURL: string, own: string | undefined): string {
  const config = (own === undefined ? {} : JSON.parse(own)) as {
    provider?: Record<string, { options?: object }>;
  };
  const provider = { ...config.provider };
  for (const name of ['openai', 'anthropic'])
    provider[name] = {
      ...provider[name],
      options: { ...provider[name]?.options, baseURL },
    };
  return JSON.stringify({ ...config, provider });
}

/** pi takes other addresses of its providers from an extension. */
function wrapPi(args: readonly string[], url: string): WrappedAgent {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-wrap-'));
  const file = join(folder, 'gateway.js');
  writeFileSync(
    file,
    `export default (pi) => {
  pi.registerProvider('anthropic', { baseUrl: ${JSON.stringify(url)} });
  pi.registerProvider('openai', { baseUrl: ${JSON.stringify(`${url}/v1`)} });
};
`,
  );
  return {
    args: ['--extension', file, ...args],
    env: {},
    clean: () => rmSync(folder, { recursive: true, force: true }),
  };
}
