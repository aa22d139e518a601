import { build, type Metafile } from 'esbuild';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package from outside that is published inside ours. */
export interface Vendored {
  readonly specifier: string;
  /** The folder of the package that depends on it. */
  readonly owner: string;
  /** What is imported from it; `*` for everything. */
  readonly names: ReadonlySet<string>;
}

/** Bundled modules of CommonJS ask for Node's own modules by `require`. */
const REQUIRE = `import { createRequire as bobbinRequire } from 'node:module'; const require = bobbinRequire(import.meta.url);`;

/** The file of a vendored module, without its folder. */
export function vendoredName(specifier: string): string {
  return `${specifier.replace(/^@/, '').replaceAll('/', '-')}.js`;
}

/** Bundles packages into a folder, a file for each and for what they share, with the licences of all that is in them. */
export async function vendor(
  root: string,
  folder: string,
  vendored: readonly Vendored[],
): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: vendored.map(({ specifier }) => ({
      in: `vendored:${specifier}`,
      out: vendoredName(specifier).replace(/\.js$/, ''),
    })),
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    banner: { js: REQUIRE },
    logLevel: 'warning',
    plugins: [
      {
        name: 'vendored',
        setup(bundler) {
          bundler.onResolve({ filter: /^vendored:/ }, ({ path }) => ({
            path: path.slice('vendored:'.length),
            namespace: 'vendored',
          }));
          bundler.onLoad({ filter: /./, namespace: 'vendored' }, ({ path }) => {
            const found = vendored.find(({ specifier }) => specifier === path);
            if (found === undefined) return undefined;
            return { contents: exportsOf(found), resolveDir: join(root, 'packages', found.owner) };
          });
        },
      },
    ],
  });
  writeFileSync(join(folder, 'LICENSES.txt'), licences(root, metafile));
}

/** A module of CommonJS has no names that a bundler could list: those that are imported are named. */
function exportsOf({ specifier, names }: Vendored): string {
  const list = names.has('*') ? '*' : `{ ${[...names].join(', ')} }`;
  return `export ${list} from '${specifier}';`;
}

/** The licence of each package that a bundle has a part of. */
function licences(root: string, { outputs }: Metafile): string {
  const inputs = Object.values(outputs).flatMap(({ inputs: parts }) => Object.keys(parts));
  const folders = new Set(
    inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const packages = [...folders].map((folder) => packageIn(join(root, folder)));
  return packages
    .map((each) => `${each.name} ${each.version} (${each.license})\n\n${termsOf(each, packages)}\n`)
    .toSorted()
    .join(`\n${'-'.repeat(80)}\n\n`);
}

interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
  /** The text of its licence; undefined if the package has no file with it. */
  readonly terms: string | undefined;
}

function packageIn(folder: string): Bundled {
  const facts = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Bundled;
  const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  const terms = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  return { ...facts, terms };
}

/** A package without a file names its licence: another one that has the same licence has its text. */
function termsOf({ name, license, author, terms }: Bundled, all: readonly Bundled[]): string {
  if (terms !== undefined) return terms;
  const same = all.find((each) => each.license === license && each.terms !== undefined)?.terms;
  if (same === undefined) throw new Error(`${name} has no text of its licence, ${license}`);
  const owner = (typeof author === 'string' ? author : author?.name) ?? `the authors of ${name}`;
  const text = same
    .split('\n')
    .filter((line) => !/^\s*copyright \(c\)|^\s*copyright \d/i.test(line));
  return `Copyright (c) ${owner}\n\n${text.join('\n').trim()}`;
}
