import { parseArgs } from 'node:util';
import { ExpectedError } from './expected-error.ts';
import { foldersOf } from './folders.ts';
import { visibleLine } from './tui/printable.ts';

const AGENT_HELP = `Usage: bobbin [OPTIONS]
       bobbin agent [OPTIONS] [PROMPT…]

A coding agent for long sessions, in the current folder. Without -p or --mode
it needs a terminal.

Options:
  -p, --print          Answer the prompt, with what comes in on stdin, print the
                       answer and nothing else, and end.
  --verbose            With -p, print what happens on the way to stderr.
  --mode json|rpc      Speak JSON events a line, or JSON-RPC over stdin and
                       stdout (docs/agent.md).
  --model PROVIDER/ID  anthropic/…, openai/…, ollama/…, a provider of the
                       settings, or scripted/demo, which needs no key.
  -c, --continue       Go on with the newest session of this folder.
  --resume [ID]        Go on with a session of this folder, chosen or named.
  --session ID|FILE    The session of this folder with that name or file.
  --yes                Allow all commands and writes without asking.
  -h, --help           This text.
  -v, --version        The version.

Example:
  bobbin -p "what does this project do?"

Exit codes:
  0    Done.
  1    It failed, or was stopped.
  2    It was called wrongly, or there is nothing it can answer with.
  130  Interrupted.
`;

export interface Invocation {
  readonly mode: 'tui' | 'print' | 'json' | 'rpc' | 'import';
  readonly prompt: string;
  readonly model?: string;
  /** Which session to go on with; a new one if absent. */
  readonly resume?:
    | { readonly kind: 'newest' | 'choose' }
    | { readonly kind: 'named'; readonly id: string };
  readonly yes: boolean;
  readonly verbose: boolean;
  /** The file to import. */
  readonly file?: string;
}

const OPTIONS = {
  print: { type: 'boolean', short: 'p' },
  mode: { type: 'string' },
  model: { type: 'string' },
  continue: { type: 'boolean', short: 'c' },
  resume: { type: 'boolean' },
  session: { type: 'string' },
  yes: { type: 'boolean' },
  verbose: { type: 'boolean' },
} as const;

const SEE_HELP = 'see bobbin --help and bobbin agent --help';

/** @throws ExpectedError */
async function invocationOf(args: readonly string[]): Promise<Invocation> {
  // `--resume` may be alone or name a session.
  const at = args.indexOf('--resume');
  const named = at >= 0 && args[at + 1]?.startsWith('-') === false ? args[at + 1] : undefined;
  const rest = named === undefined ? args : args.toSpliced(at + 1, 1);
  const { values, positionals } = await parsed(rest);
  const [, ...others] = positionals;
  const isImport = args[0] === 'import';
  if (isImport && others.length !== 1) throw new ExpectedError('import takes one file');
  const { mode } = values;
  if (mode !== undefined && mode !== 'json' && mode !== 'rpc')
    throw new ExpectedError(`--mode is json or rpc, not ${mode}; ${SEE_HELP}`);
  const resume = resumeOf(values, named);
  return {
    mode: isImport ? 'import' : (mode ?? (values.print === true ? 'print' : 'tui')),
    prompt: isImport ? '' : positionals.join(' '),
    ...(values.model === undefined ? {} : { model: values.model }),
    ...(resume === undefined ? {} : { resume }),
    yes: values.yes === true,
    verbose: values.verbose === true,
    ...(isImport && others[0] !== undefined ? { file: others[0] } : {}),
  };
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

async function parsed(
  args: readonly string[],
): Promise<{ values: Values; positionals: readonly string[] }> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new ExpectedError(`${await misread(error as Error)}; ${SEE_HELP}`);
  }
}

/** Joins the parser's sentences into one, with the option that was probably meant. */
async function misread({ message }: Error): Promise<string> {
  const [sentence = ''] = message.split(/\. |\.?\n/);
  const problem = sentence.charAt(0).toLowerCase() + sentence.slice(1);
  const word = /^unknown option '(--.+)'$/.exec(problem)?.[1];
  if (word === undefined) return problem;
  const { didYouMean } = await import('@bobbin/core/internal');
  const names = [...Object.keys(OPTIONS), 'help', 'version'].map((name) => `--${name}`);
  return problem + didYouMean(word, names);
}

function resumeOf(values: Values, named: string | undefined): Invocation['resume'] {
  const id = values.session ?? named;
  if (id !== undefined) return { kind: 'named', id };
  if (values.resume === true) return { kind: 'choose' };
  return values.continue === true ? { kind: 'newest' } : undefined;
}

/** Runs the agent as it was called and returns the exit code: 0 done, 1 failed, 2 called wrongly, 130 interrupted. */
export async function runAgent(args: readonly string[]): Promise<number> {
  const own = new Set(args.slice(0, args.includes('--') ? args.indexOf('--') : args.length));
  if (own.has('--help') || own.has('-h')) return print(AGENT_HELP);
  if (own.has('--version') || own.has('-v')) {
    const { default: packageJson } = await import('../package.json', { with: { type: 'json' } });
    return print(`${packageJson.version}\n`);
  }
  try {
    const invocation = await invocationOf(args);
    const folders = foldersOf(process.cwd(), process.env);
    if (invocation.mode === 'tui') {
      const { tuiMode } = await import('./modes/tui.ts');
      return await tuiMode(invocation, folders);
    }
    const { run } = await import('./run.ts');
    return await run(invocation, folders);
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    process.stderr.write(`bobbin: ${visibleLine(error.message)}\n`);
    return 2;
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
