import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { manifestOf } from './manifest.ts';
import { renamed, specifiersOf, type Specifier } from './specifiers.ts';
import { vendor, vendoredName, type Vendored } from './vendor.ts';
import { Workspace } from './workspace.ts';

type Condition = 'types' | 'default';

/** Commands, which are no entries of the package: they have no declarations. */
const COMMANDS = ['cli/dist/main.js', 'adapters/dist/mcp/command.js'];

/** What is published as it is, relative to `packages`. */
const COPIES = ['cli/bin', 'cli/samples'];

/**
 * Makes the one package that is published, from what the compiler made of the workspace: each file that an entry or a
 * command needs, where it is under `packages`, with its imports of other packages replaced by their paths.
 */
export async function assemble(root: string, folder: string): Promise<void> {
  const workspace = new Workspace(root);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const assembly = new Assembly(workspace, folder);
  for (const entry of Object.values(workspace.manifest('bobbin').exports ?? {})) {
    if (typeof entry === 'string') continue;
    assembly.add(join('bobbin', entry['default'] ?? ''), 'default');
    assembly.add(join('bobbin', entry['types'] ?? ''), 'types');
  }
  for (const command of COMMANDS) assembly.add(command, 'default');
  await vendor(root, join(folder, 'vendor'), assembly.vendored);
  for (const path of COPIES)
    cpSync(join(root, 'packages', path), join(folder, path), { recursive: true });
  for (const name of ['README.md', 'LICENSE']) cpSync(join(root, name), join(folder, name));
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify(manifestOf(workspace), undefined, 2)}\n`,
  );
}

/** The files that are published, with the packages from outside that they need. */
class Assembly {
  readonly #workspace: Workspace;
  readonly #folder: string;
  readonly #added = new Set<string>();
  readonly #vendored = new Map<string, Vendored & { readonly names: Set<string> }>();

  constructor(workspace: Workspace, folder: string) {
    this.#workspace = workspace;
    this.#folder = folder;
  }

  get vendored(): readonly Vendored[] {
    return [...this.#vendored.values()];
  }

  /** Adds a file and all that it imports. */
  add(file: string, condition: Condition): void {
    if (this.#added.has(file)) return;
    this.#added.add(file);
    const to = join(this.#folder, file);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, this.#published(file, condition));
  }

  #published(file: string, condition: Condition): string {
    if (file.endsWith('/package.json')) return this.#versionOf(dirname(file));
    const text = readFileSync(join(this.#workspace.root, 'packages', file), 'utf8');
    const named = renamed(text, specifiersOf(file, text), (specifier) =>
      this.#nameOf(specifier, file, condition),
    );
    // The maps are not published: they are twice as large as everything else.
    return named.replace(/^\/\/# sourceMappingURL=.*\n?/gm, '');
  }

  /** As much of a package's manifest as its code reads: its dependencies are inside. */
  #versionOf(folder: string): string {
    const { name, version, description, type } = this.#workspace.manifest(folder);
    return `${JSON.stringify({ name, version, description, type })}\n`;
  }

  #nameOf(specifier: Specifier, file: string, condition: Condition): string {
    const target = this.#workspace.target(file, specifier.value, condition);
    switch (target.kind) {
      case 'builtin':
      case 'peer':
        return specifier.value;
      case 'file':
        this.add(target.path, condition);
        return pathFrom(file, target.path.replace(/\.d\.ts$/, '.js'));
      case 'vendored':
        if (condition === 'types')
          throw new Error(
            `${file}: the types of ${specifier.value} are not published; use your own`,
          );
        this.#vendor(specifier, target.owner);
        return pathFrom(file, join('vendor', vendoredName(specifier.value)));
    }
  }

  #vendor({ value, names }: Specifier, owner: string): void {
    const known = this.#vendored.get(value) ?? {
      specifier: value,
      owner,
      names: new Set<string>(),
    };
    for (const name of names) known.names.add(name);
    this.#vendored.set(value, known);
  }
}

/** The path from one file to another, as an import names it. */
function pathFrom(file: string, to: string): string {
  const path = relative(dirname(file), to);
  return path.startsWith('.') ? path : `./${path}`;
}
