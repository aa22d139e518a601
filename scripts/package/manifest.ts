import type { Manifest, Workspace } from './workspace.ts';

/** The `package.json` that is published: no dependency, and as optional peers all that an entry can work with. */
export function manifestOf(workspace: Workspace): object {
  const { name, version, description, keywords, license, repository, engines, exports } =
    workspace.manifest('bobbin');
  const peers = peersOf([...workspace.manifests.values()]);
  return {
    name,
    version,
    description,
    keywords,
    license,
    repository,
    type: 'module',
    // A bundler may leave out all that is not used, except the check of Node's version.
    sideEffects: ['./gateway/dist/node-version.js'],
    bin: { bobbin: 'cli/bin/bobbin.mjs', 'bobbin-mcp': 'adapters/dist/mcp/command.js' },
    exports: publishedExports(exports ?? {}),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(peers).map((peer) => [peer, { optional: true }]),
    ),
    engines,
  };
}

/** @throws if two packages want different versions of one peer. */
function peersOf(manifests: readonly Manifest[]): Record<string, string> {
  const found = new Map<string, string>();
  for (const { name, peerDependencies = {} } of manifests)
    for (const [peer, range] of Object.entries(peerDependencies)) {
      if ((found.get(peer) ?? range) !== range)
        throw new Error(`${name} wants ${peer} ${range}, another package ${found.get(peer)}`);
      found.set(peer, range);
    }
  return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Entries without the condition that leads to the source, which is not published. */
function publishedExports(exports: NonNullable<Manifest['exports']>): object {
  const entries = Object.entries(exports).map(([path, entry]): [string, string | object] => {
    if (typeof entry === 'string') return [path, entry];
    const { types, default: code } = entry;
    return [path, { types: inPackage(types), default: inPackage(code) }];
  });
  return Object.fromEntries(entries);
}

function inPackage(path: string | undefined): string {
  return `./bobbin/${(path ?? '').replace(/^\.\//, '')}`;
}
