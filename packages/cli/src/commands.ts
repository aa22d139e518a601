import packageJson from '../package.json' with { type: 'json' };
import { commandHelp, table, wrap, type Command } from './command.ts';
import { compactCommand } from './compact.ts';
import { demoCommand } from './demo.ts';
import { inspectCommand } from './inspect.ts';
import { EXIT, InputError, UsageError } from './failure.ts';
import { storeCommand } from './store.ts';

const COMMANDS: readonly Command[] = [compactCommand, inspectCommand, storeCommand, demoCommand];

const HELP = `Usage: bobbin COMMAND [OPTIONS]
       bobbin [AGENT OPTIONS]     The coding agent, in a terminal; see bobbin agent --help.

${wrap(packageJson.description, 80).join('\n')}

Commands:
${table(COMMANDS.map(({ name, summary }) => [name, summary])).join('\n')}

Options:
  --help     This text; with a command, its own.
  --version  The version.
`;

/** Carries out a command by its name and gives the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version') return print(`${packageJson.version}\n`);
  if (name === undefined || name === '--help' || name === '-h') return print(HELP);
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined)
    return complain(EXIT.badInput, `unknown command ${JSON.stringify(name)}; see bobbin --help`);
  if (rest.includes('--help') || rest.includes('-h')) return print(commandHelp(command));
  try {
    return await command.run(rest);
  } catch (error) {
    return explain(command, error);
  }
}

/** One line for what can be expected to fail; anything else is a bug and shows where it is. */
function explain(command: Command, error: unknown): number {
  if (error instanceof UsageError)
    return complain(EXIT.badInput, `${error.message}; see bobbin ${command.name} --help`);
  if (error instanceof InputError) return complain(EXIT.badInput, error.message);
  // By its name: loading the class would load every store.
  if (error instanceof Error && error.name === 'StoreError')
    return complain(EXIT.failed, error.message);
  if (isSystemError(error)) {
    // Whoever read the output has seen enough.
    if (error.code === 'EPIPE') return EXIT.done;
    return complain(
      error.code === 'ENOENT' ? EXIT.badInput : EXIT.failed,
      `${error.path ?? error.syscall}: ${error.message.replace(/^\w+: |, .*$/g, '')}`,
    );
  }
  throw error;
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.done;
}

function complain(code: number, line: string): number {
  process.stderr.write(`bobbin: ${line}\n`);
  return code;
}
