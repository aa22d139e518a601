import { posix } from 'node:path';
import type { Import, Module } from './module.ts';

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Which packages a package's source may import. A package that is not listed here breaks the check. */
const MAY_IMPORT = new Map<string, readonly string[]>([
  ['core', []],
  ['codecs', ['core']],
  ['stores', ['core']],
  ['models', ['core']],
  ['adapters', ['core', 'codecs']],
  ['testing', ['core', 'codecs']],
  ['gateway', ['core', 'codecs', 'stores', 'models']],
  ['agent', ['core', 'codecs', 'stores', 'models']],
  ['studio', ['gateway']],
  [
    'cli',
    ['core', 'codecs', 'stores', 'models', 'adapters', 'testing', 'gateway', 'agent', 'studio'],
  ],
  ['bobbin', ['core', 'codecs', 'stores', 'models', 'adapters', 'testing', 'gateway']],
]);

/** Core's folders: each imports only those before it. */
const LAYERS = [
  'check',
  'message',
  'thread',
  'tokens',
  'plan',
  'render',
  'summary',
  'extract',
  'verify',
  'audit',
  'compact',
  'recall',
  'presets',
  'session',
];

/** Files of core that hold types only: they import types from every layer, and every layer after `thread` imports them. */
const INTERFACES = ['ports', 'events'];

/** The one file of core that may read a clock or a source of randomness: the defaults that a host can replace. */
const CLOCK = 'packages/core/src/session/config/host.ts';
/** The name by which that file asks for the tokenizers, which a host may have installed. */
const OPTIONAL = 'TOKENIZERS';

/** Asks the runtime for its digest, which gives the same hash for the same text. */
const DIGEST = 'packages/core/src/message/sha256.ts';

/** The layers to the left of the types-only files. */
const BEFORE_INTERFACES = new Set(['check', 'message', 'thread']);

const NAMELESS = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'types']);

/** The import rules that one module breaks, given what its package lists as dependencies. */
export function violations(module: Module, dependencies: readonly string[]): Violation[] {
  return [
    ...nameViolations(module),
    ...packageViolations(module, dependencies),
    ...coreViolations(module),
  ].toSorted((a, b) => a.line - b.line);
}

/** The folder under `packages/` that a path is in, and whether it is in the source that gets published. */
export function placeOf(
  path: string,
): { name: string; isSource: boolean; inside: string } | undefined {
  const [top, name, folder, ...rest] = path.split('/');
  if (top !== 'packages' || name === undefined) return undefined;
  return { name, isSource: folder === 'src', inside: rest.join('/') };
}

function nameViolations({ path, imports }: Module): Violation[] {
  const found: Violation[] = [];
  const nameless = path.split('/').find((part) => NAMELESS.has(part.replace(/\..*$/, '')));
  if (nameless !== undefined) {
    found.push({
      path,
      line: 1,
      message: `"${nameless}" says nothing: name it by the concept it holds`,
    });
  }
  if (posix.basename(path).startsWith('index.')) {
    if (!/^packages\/[^/]+\/src\/index\.ts$/.test(path)) {
      found.push({
        path,
        line: 1,
        message: 'only a package root has an index: import the file itself',
      });
    }
    for (const { line, form } of imports) {
      if (form === 'export *') {
        found.push({
          path,
          line,
          message: 'name each export: the list is what the package offers',
        });
      }
    }
  }
  return found;
}

function packageViolations(
  { path, imports }: Module,
  dependencies: readonly string[],
): Violation[] {
  const place = placeOf(path);
  if (place === undefined) return [];
  const allowed = MAY_IMPORT.get(place.name);
  if (allowed === undefined) {
    return [
      {
        path,
        line: 1,
        message: `package ${place.name} has no import rule: give it one in scripts/import-rules/rules.ts`,
      },
    ];
  }
  return imports.flatMap(({ line, specifier }) => {
    const message = specifier.startsWith('.')
      ? leavingMessage(path, place.name, specifier)
      : workspaceMessage(place, specifier, allowed, dependencies);
    return message === undefined ? [] : [{ path, line, message }];
  });
}

function leavingMessage(path: string, name: string, specifier: string): string | undefined {
  const target = placeOf(resolve(path, specifier));
  if (target?.name === name) return undefined;
  return `"${specifier}" leaves the package: import other packages by name`;
}

function workspaceMessage(
  place: { name: string; isSource: boolean },
  specifier: string,
  allowed: readonly string[],
  dependencies: readonly string[],
): string | undefined {
  const target = workspacePackage(specifier);
  if (target === undefined) return undefined;
  if (!place.isSource) {
    if ([place.name, 'testing', ...allowed].includes(target)) return undefined;
    return `tests of ${place.name} may import ${list([place.name, 'testing', ...allowed])}, not ${target}`;
  }
  if (!allowed.includes(target)) {
    return `${place.name} may import ${list(allowed)}, not ${target}: move what is needed, or pass it in through a port`;
  }
  const [scope = '', name = ''] = specifier.split('/');
  const owner = scope.startsWith('@') ? `${scope}/${name}` : scope;
  if (!dependencies.includes(owner)) {
    return `${owner} is not in the dependencies of packages/${place.name}/package.json: add it`;
  }
  return undefined;
}

function workspacePackage(specifier: string): string | undefined {
  const [, inScope, plain] = /^(?:@bobbin\/([^/]+)|(bobbin)(?:\/|$))/.exec(specifier) ?? [];
  return inScope ?? plain;
}

function coreViolations({ path, imports, impurities }: Module): Violation[] {
  const place = placeOf(path);
  if (place?.name !== 'core' || !place.isSource) return [];
  const layer = layerOf(place.inside);
  if (![...LAYERS, ...INTERFACES, 'index', 'internal'].includes(layer)) {
    return [
      { path, line: 1, message: `core has no layer "${layer}": its layers are ${list(LAYERS)}` },
    ];
  }
  const fromImports = imports.flatMap((each) => {
    const message = layerMessage(path, layer, each);
    return message === undefined ? [] : [{ path, line: each.line, message }];
  });
  const fromImpurities = (path === CLOCK || path === DIGEST ? [] : impurities).map(
    ({ line, name }) => ({
      path,
      line,
      message: `core is pure, without ${name}: take it through a port`,
    }),
  );
  return [...fromImports, ...fromImpurities];
}

function layerMessage(
  path: string,
  layer: string,
  { specifier, form }: Import,
): string | undefined {
  if (!specifier.startsWith('.')) {
    // Other packages of the workspace have their own message.
    if (workspacePackage(specifier) !== undefined) return undefined;
    if (path === CLOCK && specifier === OPTIONAL) return undefined;
    return `core imports nothing from outside, such as "${specifier}": take it through a port`;
  }
  const target = placeOf(resolve(path, specifier));
  if (target?.name !== 'core' || !target.isSource) return undefined;
  const targetLayer = layerOf(target.inside);
  if (layer === 'index' || layer === 'internal' || layer === targetLayer) return undefined;
  if (targetLayer === 'index' || targetLayer === 'internal')
    return 'inside core import the file itself, not the index';
  if (INTERFACES.includes(layer) || INTERFACES.includes(targetLayer)) {
    if (BEFORE_INTERFACES.has(layer))
      return `${layer} is before ${targetLayer} and may not import it`;
    return form.endsWith('type')
      ? undefined
      : `${list(INTERFACES)} hold types only: use \`import type\``;
  }
  const before = LAYERS.slice(0, LAYERS.indexOf(layer));
  if (before.includes(targetLayer)) return undefined;
  return `${layer} may import ${list(before)}, not ${targetLayer}: move what is needed further left`;
}

/** The first folder below core's `src`, or the name of a file that lies there. */
function layerOf(inside: string): string {
  return inside.split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
