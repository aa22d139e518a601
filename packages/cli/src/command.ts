import { parseArgs } from 'node:util';
import { hanging, wrap } from './output/columns.ts';
import { UsageError } from './failure.ts';

/** One option of a command: what is typed, and what the help says of it. */
export type OptionSpec =
  | { readonly type: 'boolean'; readonly help: string }
  /** `value` names what follows the option; `strings` may be given more than once. */
  | { readonly type: 'string' | 'strings'; readonly value: string; readonly help: string };

export type OptionTable = Readonly<Record<string, OptionSpec>>;

export type OptionValues<Table extends OptionTable> = {
  readonly [Name in keyof Table]?: {
    boolean: boolean;
    string: string;
    strings: readonly string[];
  }[Table[Name]['type']];
};

export interface Command {
  readonly name: string;
  /** What comes after the name: `[FILE…]`. */
  readonly operands: string;
  readonly about: string;
  readonly options: OptionTable;
  readonly examples: readonly string[];
  /** Exit codes that no other command has. */
  readonly exits?: readonly (readonly [code: string, meaning: string])[];
  /** Gets what comes after the command's name and returns the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** @throws UsageError in one line. */
export function parseOptions<Table extends OptionTable>(
  args: readonly string[],
  options: Table,
): { readonly values: OptionValues<Table>; readonly operands: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: withNegatives(args, options),
      options: Object.fromEntries(
        Object.entries(options).map(([name, { type }]) => [
          name,
          type === 'strings' ? ({ type: 'string', multiple: true } as const) : { type },
        ]),
      ),
      allowPositionals: true,
    });
    return { values: values as OptionValues<Table>, operands: positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw misunderstood(error, options);
  }
}

/** The arguments with each number below 0 joined to its option: alone, the parser would take it for an option. */
function withNegatives(args: readonly string[], options: OptionTable): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    const { type = 'boolean' } = options[before.replace(/^--/, '')] ?? {};
    if (/^-\d/.test(arg) && type !== 'boolean') joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

/** Joins the parser's sentences into one. */
function misunderstood({ message }: TypeError, options: OptionTable): UsageError {
  const problem = decapitalized(message.split(/\. |\.?\n/)[0] ?? message).replace(
    /' argument is ambiguous$/,
    " <value>' argument missing",
  );
  const word = /^unknown option '(--.+)'$/.exec(problem)?.[1];
  if (word === undefined) return new UsageError(problem);
  return new UsageError(problem, { word, names: Object.keys(options).map((name) => `--${name}`) });
}

function decapitalized(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** The whole number that an option was given; undefined if it was not. */
export function wholeNumber(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d+$/.test(given) && Number.isSafeInteger(number) && number > 0) return number;
  throw new UsageError(`--${option} must be a whole number above 0, not ${JSON.stringify(given)}`);
}

/** The one of some names that an option was given; undefined if it was not. */
export function oneOf<Name extends string>(
  option: string,
  given: string | undefined,
  names: Readonly<Record<Name, unknown>>,
): Name | undefined {
  if (given === undefined) return undefined;
  if (Object.hasOwn(names, given)) return given as Name;
  const all = Object.keys(names);
  throw new UsageError(
    `--${option} must be one of ${all.join(', ')}, not ${JSON.stringify(given)}`,
    { word: given, names: all },
  );
}

const WIDTH = 80;

/** What every command's exit code means. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'Done.'],
  ['1', 'The work failed: nothing could be written, or a store cannot be reached or is damaged.'],
  [
    '2',
    'The command was called wrongly, or its input is missing, unreadable or not what it should be. No output file was touched.',
  ],
];

export function commandHelp(command: Command): string {
  const rows = Object.entries(command.options).map(([name, option]): readonly [string, string] => [
    `--${name}${option.type === 'boolean' ? '' : ` ${option.value}`}`,
    option.help,
  ]);
  return [
    ...wrap(
      `Usage: bobbin ${[command.name, command.operands, '[OPTIONS]'].filter(Boolean).join(' ')}`,
      WIDTH,
    ),
    '',
    ...wrap(command.about, WIDTH),
    '',
    'Options:',
    ...table([...rows, ['-h, --help', 'This text.']]),
    '',
    'Examples:',
    ...command.examples.map((example) => `  ${example}`),
    '',
    'Exit codes:',
    ...table([...EXIT_CODES, ...(command.exits ?? [])]),
    '',
  ].join('\n');
}

/** Two columns, the second wrapped. */
export function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const left = Math.max(...rows.map(([term]) => term.length)) + 4;
  return rows.flatMap(([term, text]) => hanging(`  ${term}`.padEnd(left), text, WIDTH));
}
