import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_PACKAGE } from '../../packages/cli/bin/runtime.mjs';
import { readmePrograms } from '../../test/readme-programs.ts';
import type { Manifest } from '../package/workspace.ts';

const NODES = ['20', '22', '24'];
const COMPILERS = ['5.4', '5.9', '7.0'];
const RESOLUTIONS = ['nodenext', 'bundler'];

/** The packages that the programs import, with the packages of the workspace that say which version. */
const HOSTS = {
  codecs: ['@anthropic-ai/sdk', 'openai'],
  adapters: [
    '@ai-sdk/openai',
    '@langchain/core',
    '@langchain/openai',
    '@openai/agents',
    'ai',
    'langchain',
    'zod',
  ],
} as const;

/** A new project that installs the tarball, in every combination of Node and compiler. */
export class Trial {
  readonly #root: string;
  readonly #folder: string;

  constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  /** Prints each combination, and gives what failed. */
  run(tarball: string): string[] {
    mkdirSync(this.#folder);
    this.#npm(tarball);
    const installed = readFileSync(join(this.#folder, 'package-lock.json'), 'utf8');
    const { packages } = JSON.parse(installed) as { readonly packages: object };
    console.log(`bobbin alone: ${Object.keys(packages).length - 1} package`);
    const plain = this.#write('plain', [['entries', PLAIN]]);
    const strict = COMPILERS.map((version) => [`ts${version}`, `npm:typescript@~${version}`]);
    const nodes = NODES.map((version) => [`node${version}`, `npm:${NODE_PACKAGE}@${version}`]);
    this.#npm(...[...strict, ...nodes].map(([name, from]) => `${name}@${from}`));
    const failures = this.#compiled(plain, []);
    this.#npm('@types/node@20', ...this.#hosts());
    const programs = this.#write('programs', [...this.#loops(), ...this.#changes()]);
    // The frameworks' own declarations are theirs to check.
    failures.push(...this.#compiled(programs, ['--skipLibCheck']));
    this.#emit(programs);
    for (const version of NODES) failures.push(...this.#ran(version, [...plain, ...programs]));
    return failures;
  }

  #npm(...args: readonly string[]): void {
    const manifest = join(this.#folder, 'package.json');
    writeFileSync(manifest, manifestText(manifest));
    const flags = ['--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps'];
    execFileSync('npm', ['install', ...flags, ...args], { cwd: this.#folder, stdio: 'inherit' });
  }

  #hosts(): string[] {
    return Object.entries(HOSTS).flatMap(([folder, names]) => {
      const text = readFileSync(join(this.#root, 'packages', folder, 'package.json'), 'utf8');
      const { devDependencies = {} } = JSON.parse(text) as Manifest & {
        readonly devDependencies?: Readonly<Record<string, string>>;
      };
      return names.map((name) => `${name}@${devDependencies[name]}`);
    });
  }

  /** The loops of the pages about the providers. */
  #loops(): [string, string][] {
    return ['openai', 'anthropic'].map((name) => {
      const page = readFileSync(join(this.#root, `docs/frameworks/${name}.md`), 'utf8');
      const snippets = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
      const loop = snippets.find((code) => code.includes('\nconst client'));
      if (loop === undefined) throw new Error(`docs/frameworks/${name}.md has no loop`);
      console.log(`the loop for ${name}: ${loopLines(loop)} lines`);
      return [`loop-${name}`, loop];
    });
  }

  #changes(): [string, string][] {
    return readmePrograms(this.#root).map(({ name, addedLines, code }, i) => {
      console.log(`${name}: ${addedLines} added lines`);
      return [`change-${i}`, code];
    });
  }

  #write(folder: string, programs: readonly (readonly [name: string, code: string])[]): string[] {
    mkdirSync(join(this.#folder, folder));
    return programs.map(([name, code]) => {
      const file = join(folder, `${name}.ts`);
      writeFileSync(join(this.#folder, file), code);
      return file;
    });
  }

  #compiled(files: readonly string[], flags: readonly string[]): string[] {
    return COMPILERS.flatMap((version) =>
      RESOLUTIONS.flatMap((resolution) => {
        const what = `TypeScript ${version}, ${resolution}, ${files.length} files`;
        const args = ['--noEmit', ...flags, ...resolutionFlags(resolution), ...files];
        return outcome(what, this.#tsc(version, args));
      }),
    );
  }

  #emit(files: readonly string[]): void {
    const args = ['--skipLibCheck', ...resolutionFlags('nodenext'), ...files];
    this.#tsc(COMPILERS.at(-1) ?? '', args);
    this.#tsc(COMPILERS.at(-1) ?? '', [...args.slice(0, -files.length), 'plain/entries.ts']);
  }

  #tsc(version: string, args: readonly string[]): ReturnType<typeof spawnSync> {
    const tsc = join(this.#folder, 'node_modules', `ts${version}`, 'bin/tsc');
    return spawnSync(process.execPath, [tsc, '--strict', '--target', 'es2022', ...args], {
      cwd: this.#folder,
      encoding: 'utf8',
    });
  }

  #ran(version: string, files: readonly string[]): string[] {
    const node = join(this.#folder, 'node_modules', `node${version}`, 'bin/node');
    return files.flatMap((file) => {
      const ran = spawnSync(node, [file.replace(/\.ts$/, '.js')], {
        cwd: this.#folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
      });
      return outcome(`Node ${version}, ${file}`, ran);
    });
  }
}

/** What is used without any other package. */
const PLAIN = `import { createBobbin } from 'bobbin';
import { anthropic } from 'bobbin/anthropic';
import { bedrock } from 'bobbin/bedrock';
import { detectFormat } from 'bobbin/codecs';
import { gemini } from 'bobbin/gemini';
import { jsonlStore } from 'bobbin/jsonl';
import { mastraBobbin } from 'bobbin/mastra';
import { modelSummarizer } from 'bobbin/models';
import { openaiChat, type ChatMessage } from 'bobbin/openai';
import { bobbinPlugin } from 'bobbin/opencode';
import { bobbinExtension } from 'bobbin/pi';
import { s3Blobs } from 'bobbin/s3';
import { sqliteStore } from 'bobbin/sqlite';
import { folderArtifacts } from 'bobbin/stores';

const others = [anthropic, bedrock, detectFormat, gemini, jsonlStore, mastraBobbin, modelSummarizer, bobbinPlugin, bobbinExtension, s3Blobs, sqliteStore, folderArtifacts];
if (others.some((each) => each === undefined)) throw new Error('an entry is empty');
const bobbin = createBobbin({ codec: openaiChat, window: 8_000 });
const history: ChatMessage[] = [{ role: 'user', content: 'Never restart db-1.' }];
for (let step = 0; step < 40; step++) {
  history.push({ role: 'assistant', content: \`Step \${step}. \${'I looked at one more host. '.repeat(40)}\` });
  const { messages, fits } = await bobbin.fit(history);
  if (!fits || !JSON.stringify(messages).includes('Never restart db-1.')) throw new Error('not kept');
  if (step === 39 && messages.length >= history.length) throw new Error('not compacted');
}
`;

/** The lines of a loop: from the client on to its closing brace. */
function loopLines(code: string): number {
  const lines = code.split('\n');
  const first = lines.findIndex((line) => line.startsWith('const client'));
  return lines.indexOf('}', first) - first + 1;
}

function resolutionFlags(resolution: string): string[] {
  const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
  return ['--module', module, '--moduleResolution', resolution];
}

function manifestText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '{ "type": "module", "private": true }';
  }
}

/** Prints how a trial went, and gives the text of a failure. */
function outcome(what: string, { status, stdout, stderr }: ReturnType<typeof spawnSync>): string[] {
  console.log(`${status === 0 ? '✓' : '✗'} ${what}`);
  return status === 0 ? [] : [`${what}:\n${String(stdout)}${String(stderr)}`];
}
