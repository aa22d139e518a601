import { posix } from 'node:path';
import type { Import, Module } from './module.ts';

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** Which packages a package's source may import. A package that is not here has no room in the house yet. */
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
]);

/** Core's rooms: each imports only those before it. */
const ROOMS = [
  'thread',
  'tokens',
  'summary',
  'plan',
  'prompt',
  'recall',
  'compactor',
  'presets',
  'door',
];

/** Files of core that hold types only: they see every room, and every room but the first sees them. */
const INTERFACES = ['ports', 'events'];

/** The one file of core that may look at a clock: the default that the door hands to the engine. */
const CLOCK = 'packages/core/src/door/clock.ts';

const NAMELESS = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'types']);

/** The rules of the house that one module breaks, given what its package lists as dependencies. */
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
        message: `package ${place.name} has no import rule: give it one in scripts/house/rules.ts`,
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
  return specifier === 'bobbin' ? 'cli' : /^@bobbin\/([^/]+)/.exec(specifier)?.[1];
}

function coreViolations({ path, imports, impurities }: Module): Violation[] {
  const place = placeOf(path);
  if (place?.name !== 'core' || !place.isSource) return [];
  const room = roomOf(place.inside);
  if (![...ROOMS, ...INTERFACES, 'index'].includes(room)) {
    return [{ path, line: 1, message: `core has no room "${room}": its rooms are ${list(ROOMS)}` }];
  }
  const fromImports = imports.flatMap((each) => {
    const message = roomMessage(path, room, each);
    return message === undefined ? [] : [{ path, line: each.line, message }];
  });
  const fromImpurities = (path === CLOCK ? [] : impurities).map(({ line, name }) => ({
    path,
    line,
    message: `core is pure, without ${name}: take it through a port`,
  }));
  return [...fromImports, ...fromImpurities];
}

function roomMessage(path: string, room: string, { specifier, form }: Import): string | undefined {
  if (!specifier.startsWith('.')) {
    // Other packages of the workspace have their own message.
    if (workspacePackage(specifier) !== undefined) return undefined;
    return `core imports nothing from outside, such as "${specifier}": take it through a port`;
  }
  const target = placeOf(resolve(path, specifier));
  if (target?.name !== 'core' || !target.isSource) return undefined;
  const targetRoom = roomOf(target.inside);
  if (room === 'index' || room === targetRoom) return undefined;
  if (targetRoom === 'index') return 'inside core import the file itself, not the index';
  if (INTERFACES.includes(room) || INTERFACES.includes(targetRoom)) {
    if (room === ROOMS[0]) return `${room} is before ${targetRoom} and may not import it`;
    return form.endsWith('type')
      ? undefined
      : `${list(INTERFACES)} hold types only: use \`import type\``;
  }
  const before = ROOMS.slice(0, ROOMS.indexOf(room));
  if (before.includes(targetRoom)) return undefined;
  return `${room} may import ${list(before)}, not ${targetRoom}: move what is needed to a room further left`;
}

/** The first folder below core's `src`, or the name of a file that lies there. */
function roomOf(inside: string): string {
  return inside.split('/')[0]?.replace(/\.ts$/, '') ?? '';
}

function resolve(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}
