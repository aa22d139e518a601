import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { functionsOf, type NamedFunction } from './functions.ts';

const SOURCE = /^packages\/[^/]+\/src\/.*\.ts$/;

/** Puts a probe into each function of a package's source that is loaded from now on, and returns those that are called. */
export function installProbes(root: string): Set<NamedFunction> {
  const known: NamedFunction[] = [];
  const called = new Set<NamedFunction>();
  const probe = (i: number): void => void called.add(known[i] as NamedFunction);
  const callOf = (one: NamedFunction): string => `bobbinProbe(${known.push(one) - 1})`;
  Object.assign(globalThis, { bobbinProbe: probe });
  registerHooks({
    load: (url, context, nextLoad) => {
      const file = url.startsWith('file:') ? fileURLToPath(url) : '';
      const path = relative(root, file).replaceAll(sep, '/');
      if (!SOURCE.test(path)) return nextLoad(url, context);
      const source = probed(path, readFileSync(file, 'utf8'), callOf);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
  return called;
}

/** The same source, where each function first makes its call. Each line stays where it is. */
function probed(path: string, text: string, callOf: (one: NamedFunction) => string): string {
  return functionsOf(path, text)
    .flatMap((one) => {
      const { kind, start, end } = one.body;
      if (kind === 'block') return [{ at: start + 1, what: `${callOf(one)};` }];
      return [
        { at: start, what: `(${callOf(one)}, ` },
        { at: end, what: ')' },
      ];
    })
    .toSorted((a, b) => b.at - a.at)
    .reduce((all, { at, what }) => all.slice(0, at) + what + all.slice(at), text);
}
