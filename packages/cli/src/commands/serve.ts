import { parseOptions, type Command, type OptionTable, type OptionValues } from '../command.ts';
import { UsageError } from '../failure.ts';

/** Settings of a gateway. Each can be given in the file and in the environment too. */
export const GATEWAY_OPTIONS = {
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Where it listens. Default: 127.0.0.1. An address that other machines reach needs --token.',
  },
  port: { type: 'string', value: 'N', help: 'Default: 7077; 0 takes any free port.' },
  token: { type: 'string', value: 'TEXT', help: 'What clients must send as x-bobbin-token.' },
  'api-token': {
    type: 'string',
    value: 'TEXT',
    help: 'What the API demands as x-bobbin-token. It shows the conversations of all clients. With --token and without this, the API is closed.',
  },
  openai: {
    type: 'string',
    value: 'URL',
    help: 'Where requests of OpenAI clients go. Default: https://api.openai.com.',
  },
  anthropic: {
    type: 'string',
    value: 'URL',
    help: 'Where requests of Anthropic clients go. Default: https://api.anthropic.com.',
  },
  store: {
    type: 'string',
    value: 'PLACE',
    help: 'A PostgreSQL address (postgres://…), or a folder for SQLite files. Default: bobbin/gateway in XDG_DATA_HOME.',
  },
  artifacts: {
    type: 'string',
    value: 'PLACE',
    help: 'A folder, or a bucket (s3://NAME, with the variables of AWS). Default: artifacts in the folder of the store.',
  },
  window: {
    type: 'string',
    value: 'TOKENS',
    help: "The window of every model without a policy of its own in the file. Default: the model's.",
  },
  'soft-share': {
    type: 'string',
    value: 'SHARE',
    help: 'The share of the window above which compaction should run. Default: 0.85.',
  },
  preset: {
    type: 'string',
    value: 'NAME',
    help: 'The policy: ladder, pi, codex, claude-code, opencode, … Default: ladder.',
  },
  thrift: {
    type: 'string',
    value: 'LEVEL',
    help: 'How much of older tool output the preset ladder shortens: gentle, careful, balanced or frugal. Default: gentle.',
  },
  tools: {
    type: 'string',
    value: 'on|off',
    help: 'Whether models are offered read_artifact and recall; the gateway answers those calls itself. Default: off. A client decides for itself with the header x-bobbin-tools.',
  },
  summarizer: {
    type: 'string',
    value: 'MODEL',
    help: 'A model that writes summaries between requests, such as claude-haiku-4-5 or gpt-5-mini. It is paid with BOBBIN_SUMMARIZER_KEY, or with ANTHROPIC_API_KEY or OPENAI_API_KEY. Default: summaries without a model.',
  },
  'own-work-ms': {
    type: 'string',
    value: 'MS',
    help: 'How long it may work on a request before it relays it as it is. Default: 250.',
  },
  'body-bytes': {
    type: 'string',
    value: 'N',
    help: 'The longest body of a request. Default: 67108864.',
  },
  'tenant-key': {
    type: 'string',
    value: 'TEXT',
    help: "The key of the tenants' names. Default: one that the store keeps.",
  },
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    help: 'trace, debug, info, warn, error, fatal or silent. Default: info. Logs are JSON lines on stderr.',
  },
  config: {
    type: 'string',
    value: 'FILE',
    help: 'A JSON file of settings under the names of these options, with "policies" by model and "limits".',
  },
} as const satisfies OptionTable;

export type GatewayValues = OptionValues<typeof GATEWAY_OPTIONS>;

export const serveCommand: Command = {
  name: 'serve',
  operands: '',
  about:
    "Runs the gateway: clients of OpenAI and Anthropic change their base URL to it, and conversations that would overflow or cost too much are compacted on their way. Everything else passes through unchanged, the clients' own credentials included, which are neither kept nor logged. An option wins over the environment (--own-work-ms is BOBBIN_OWN_WORK_MS there), and that over the file. SIGINT or SIGTERM ends it after the streams under way.",
  options: GATEWAY_OPTIONS,
  examples: [
    'bobbin serve',
    'bobbin serve --port 8080 --openai https://openrouter.ai/api/v1',
    'bobbin serve --host 0.0.0.0 --token "$TOKEN" --store postgres://localhost/bobbin --artifacts s3://bobbin',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, GATEWAY_OPTIONS);
    if (operands.length > 0) throw new UsageError(`serve takes no ${JSON.stringify(operands[0])}`);
    const { serve } = await import('../gateway/serving.ts');
    return serve(values);
  },
};
