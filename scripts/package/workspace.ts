import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** What a file of a package imports: a file of the workspace, or a package from outside. */
export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'builtin' }
  /** The host installs it. */
  | { readonly kind: 'peer' }
  /** It is published inside the package. */
  | { readonly kind: 'vendored'; readonly owner: string };

/** The packages of the workspace, by the names of their folders, and what their imports mean. */
export class Workspace {
  readonly root: string;
  readonly manifests: ReadonlyMap<string, Manifest>;

  constructor(root: string) {
    this.root = root;
    this.manifests = new Map(
      readdirSync(join(root, 'packages')).map((folder) => [
        folder,
        JSON.parse(
          readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'),
        ) as Manifest,
      ]),
    );
  }

  manifest(folder: string): Manifest {
    const manifest = this.manifests.get(folder);
    if (manifest === undefined) throw new Error(`there is no package in packages/${folder}`);
    return manifest;
  }

  /** The built file of an entry such as `@bobbin/core/internal`, relative to `packages`. */
  entry(specifier: string, condition: 'types' | 'default'): string {
    const [, folder = '', ...rest] = specifier.split('/');
    const path = rest.length === 0 ? '.' : `./${rest.join('/')}`;
    const entry = this.manifest(folder).exports?.[path];
    if (typeof entry !== 'object') throw new Error(`${specifier} is not an entry of its package`);
    return join(folder, entry[condition] ?? '');
  }

  /** What a specifier means in a file, which is relative to `packages`. */
  target(file: string, specifier: string, condition: 'types' | 'default'): Target {
    if (specifier.startsWith('.')) {
      const suffix = condition === 'types' ? '.d.ts' : '.js';
      return { kind: 'file', path: join(file, '..', specifier.replace(/\.(?:ts|js)$/, suffix)) };
    }
    if (specifier.startsWith('node:') || specifier.startsWith('bun:')) return { kind: 'builtin' };
    if (specifier.startsWith('@bobbin/'))
      return { kind: 'file', path: this.entry(specifier, condition) };
    const [owner = ''] = file.split('/');
    const name = packageOf(specifier);
    const { dependencies = {}, peerDependencies = {} } = this.manifest(owner);
    if (Object.hasOwn(peerDependencies, name)) return { kind: 'peer' };
    if (Object.hasOwn(dependencies, name)) return { kind: 'vendored', owner };
    throw new Error(`packages/${file} imports ${name}, which packages/${owner} does not depend on`);
  }
}

/** The package that a specifier such as `hono/streaming` is in. */
function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
