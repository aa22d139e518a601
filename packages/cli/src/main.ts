import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };

const USAGE = `Usage: bobbin [--help] [--version]

Winds long agent conversations so that they fit a model's window, and keeps the whole thread.
`;

const EXIT_BAD_INPUT = 2;

function main(args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
  });
  if (values['version'] === true) {
    process.stdout.write(`${packageJson.version}\n`);
    return 0;
  }
  if (values['help'] === true || positionals.length === 0) {
    process.stdout.write(USAGE);
    return 0;
  }
  process.stderr.write(
    `bobbin: unknown command ${JSON.stringify(positionals[0])}; see bobbin --help\n`,
  );
  return EXIT_BAD_INPUT;
}

process.exitCode = main(process.argv.slice(2));
