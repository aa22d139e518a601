import { parseOptions, type Command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { GATEWAY_OPTIONS } from './serve.ts';

export const wrapCommand: Command = {
  name: 'wrap',
  operands: '-- claude|codex|opencode|pi [ARGUMENTS]',
  about:
    'Runs an agent through the gateway. A gateway that runs already at the port is used; where there is none, one is started for as long as the agent runs. The agent gets the base URL of the gateway by its own means and keeps everything else: its keys, its settings, its terminal. When it ends, a line says what was saved, net of cache writes and summaries. The exit code is that of the agent.',
  options: GATEWAY_OPTIONS,
  examples: [
    'bobbin wrap -- claude',
    'bobbin wrap -- codex exec "fix the failing test"',
    'bobbin wrap --window 100000 -- opencode',
  ],
  async run(args) {
    const at = args.indexOf('--');
    const { values, operands } = parseOptions(at < 0 ? args : args.slice(0, at), GATEWAY_OPTIONS);
    const command = at < 0 ? operands : args.slice(at + 1);
    if (at >= 0 && operands.length > 0)
      throw new UsageError(`put ${JSON.stringify(operands[0])} after --`);
    const { wrapAgent } = await import('../gateway/wrapping.ts');
    return wrapAgent(command, values);
  },
};
