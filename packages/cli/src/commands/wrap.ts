import { parseOptions, type Command, type OptionTable } from '../command.ts';
import { UsageError } from '../failure.ts';
import { GATEWAY_OPTIONS } from './serve.ts';

const { host: _, ...SHARED } = GATEWAY_OPTIONS;

/** Without `--host`: nobody but the agent needs to reach a gateway that is started for it. */
const OPTIONS = {
  ...SHARED,
  token: {
    type: 'string',
    value: 'TEXT',
    help: 'What a gateway that runs already demands as x-bobbin-token. One that is started for the agent needs none.',
  },
} as const satisfies OptionTable;

export const wrapCommand: Command = {
  name: 'wrap',
  operands: '-- claude|codex|opencode|pi [ARGUMENTS]',
  about:
    'Runs an agent through the gateway. A gateway that runs already at the port is used; where there is none, one is started for as long as the agent runs. It listens on 127.0.0.1 only, needs no token, and sends requests where the agent would have sent them: to ANTHROPIC_BASE_URL or OPENAI_BASE_URL, if set. The agent gets the base URL of the gateway by its own means and keeps everything else: its keys, its settings, its terminal. When it ends, a line says what was saved, net of cache writes and summaries. The exit code is that of the agent.',
  options: OPTIONS,
  examples: [
    'bobbin wrap -- claude',
    'bobbin wrap -- codex exec "fix the failing test"',
    'bobbin wrap --window 100000 -- opencode',
  ],
  async run(args) {
    const at = args.indexOf('--');
    const own = at < 0 ? args : args.slice(0, at);
    if (own.some((arg) => /^--host(?:=|$)/.test(arg)))
      throw new UsageError(
        'wrap takes no --host: the gateway that it starts listens on 127.0.0.1 only',
      );
    const { values, operands } = parseOptions(own, OPTIONS);
    const command = at < 0 ? operands : args.slice(at + 1);
    if (at >= 0 && operands.length > 0)
      throw new UsageError(`put ${JSON.stringify(operands[0])} after --`);
    const { wrapAgent } = await import('../gateway/wrapping.ts');
    return wrapAgent(command, values);
  },
};
