import packageJson from '../package.json' with { type: 'json' };
import { runAgentCommand } from './commands/agent.ts';
import { wrap } from './output/columns.ts';
import { commandHelp, EXIT_CODES, table, type Command } from './command.ts';
import {
  EXIT,
  InputError,
  isSystemError,
  meantBy,
  problemOf,
  writeError,
  UsageError,
} from './failure.ts';

/** A command in the list, loaded when it is called. */
interface Listed {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

const COMMANDS: readonly Listed[] = [
  {
    name: 'compact',
    summary: 'compacts transcripts so that they fit',
    load: async () => (await import('./commands/compact.ts')).compactCommand,
  },
  {
    name: 'inspect',
    summary: 'shows what is in a transcript and what a policy would do with it',
    load: async () => (await import('./commands/inspect.ts')).inspectCommand,
  },
  {
    name: 'replay',
    summary: 'shows what a session would have cost under each policy',
    load: async () => (await import('./commands/replay.ts')).replayCommand,
  },
  {
    name: 'audit',
    summary: 'shows what the compactions in a session lost, and what Bobbin keeps',
    load: async () => (await import('./commands/audit.ts')).auditCommand,
  },
  {
    name: 'artifact',
    summary: 'prints what compact moved out of a transcript',
    load: async () => (await import('./commands/artifact.ts')).artifactCommand,
  },
  {
    name: 'store',
    summary: 'lists, copies, verifies and sweeps what was kept of threads',
    load: async () => (await import('./commands/store.ts')).storeCommand,
  },
  {
    name: 'delete',
    summary: 'erases threads, or all that a tenant has',
    load: async () => (await import('./commands/delete.ts')).deleteCommand,
  },
  {
    name: 'serve',
    summary: 'runs the gateway that clients of OpenAI and Anthropic can use as their provider',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    name: 'wrap',
    summary: 'runs claude, codex, opencode or pi through the gateway',
    load: async () => (await import('./commands/wrap.ts')).wrapCommand,
  },
  {
    name: 'demo',
    summary: 'compacts a sample session before your eyes',
    load: async () => (await import('./commands/demo.ts')).demoCommand,
  },
  {
    name: 'import',
    summary: 'takes over a session of pi, Claude Code, Codex or OpenCode',
    load: async () => (await import('./commands/import.ts')).importCommand,
  },
];

/** What is listed in addition to the commands of this package. */
const OTHERS: readonly (readonly [name: string, summary: string])[] = [
  ['agent', 'the coding agent, which bobbin without a command starts in a terminal'],
  ['help', 'this text, or that of a command: bobbin help compact'],
];

const HELP = `Usage: bobbin COMMAND [OPTIONS]
       bobbin [AGENT OPTIONS]     The coding agent, in a terminal.

${wrap(packageJson.description, 80).join('\n')}

Commands:
${table([...COMMANDS.map(({ name, summary }) => [name, summary] as const), ...OTHERS]).join('\n')}

Options:
  -h, --help     This text; with a command, its own.
  -v, --version  The version.

Example:
  bobbin compact session.json --budget 20000 --out small.json

Exit codes:
${table(EXIT_CODES).join('\n')}
`;

/** Carries out a command by its name and returns the exit code. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endWhereNobodyReads);
  if (name === '--version' || name === '-v') return print(`${packageJson.version}\n`);
  if (name === undefined || name === '--help' || name === '-h') return print(HELP);
  if (name === 'help') return help(rest);
  const command = await commandOf(name);
  if (command === undefined) return EXIT.misused;
  if (asksForHelp(rest)) return print(commandHelp(command));
  try {
    return await command.run(rest);
  } catch (error) {
    return await explain(command, error);
  }
}

/** Everything after `--` belongs to another program. */
function asksForHelp(args: readonly string[]): boolean {
  const at = args.indexOf('--');
  const own = at < 0 ? args : args.slice(0, at);
  return own.includes('--help') || own.includes('-h');
}

/** The reader of the output has seen enough; nothing else is left to do. */
function endWhereNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.done);
}

async function help([name]: readonly string[]): Promise<number> {
  if (name === undefined || name === 'help') return print(HELP);
  if (name === 'agent') return runAgentCommand(['--help']);
  const command = await commandOf(name);
  return command === undefined ? EXIT.misused : print(commandHelp(command));
}

/** The command of a name; if there is none, an error says so. */
async function commandOf(name: string): Promise<Command | undefined> {
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command.load();
  const names = [...COMMANDS.map((candidate) => candidate.name), ...OTHERS.map(([other]) => other)];
  const meant = await meantBy({ word: name, names });
  writeError(`unknown command ${JSON.stringify(name)}${meant}; see bobbin --help`);
  return undefined;
}

/** One line for an expected failure; anything else is a bug and shows its place. */
async function explain(command: Command, error: unknown): Promise<number> {
  if (error instanceof UsageError) {
    const meant = error.slip === undefined ? '' : await meantBy(error.slip);
    writeError(`${error.message}${meant}; see bobbin ${command.name} --help`);
    return EXIT.misused;
  }
  if (error instanceof InputError) {
    writeError(error.message);
    return EXIT.misused;
  }
  // By their names: loading the class of a store's error would load every store.
  if (error instanceof Error && ['StoreError', 'NotInstalled'].includes(error.name)) {
    writeError(error.message);
    return EXIT.failed;
  }
  if (!isSystemError(error)) throw error;
  writeError(`${error.path ?? error.syscall}: ${problemOf(error)}`);
  return EXIT.failed;
}

function print(text: string): number {
  process.stdout.write(text);
  return EXIT.done;
}
