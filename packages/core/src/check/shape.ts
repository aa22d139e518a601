import { didYouMean, nearest } from './nearest.ts';

/** @throws TypeError, one line, if a value is not of its kind; `path` is the option as its user wrote it. */
export type Shape = (value: unknown, path: string) => void;
export type Shapes<Fields> = { readonly [Name in keyof Fields]-?: Shape };

export function shape(must: string, holds: (value: unknown) => boolean): Shape {
  return (value, path) => {
    if (!holds(value)) throw new TypeError(`${path} must be ${must}, not ${shown(value)}`);
  };
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

const anyObject: Shape = shape('an object', isObject);
export const string: Shape = shape('a string', (value) => typeof value === 'string');
export const boolean: Shape = shape('true or false', (value) => typeof value === 'boolean');
export const list: Shape = shape('a list', Array.isArray);
export const func: Shape = shape('a function', (value) => typeof value === 'function');
export const nonNegative: Shape = shape('a number of at least 0', (value) => isFrom(0, value));
export const positive: Shape = shape('a number of at least 1', (value) => isFrom(1, value));
export const fraction: Shape = shape(
  'a number from 0 to 1',
  (value) => isFrom(0, value) && Number(value) <= 1,
);

export function integerFrom(least: number): Shape {
  return shape(
    `a whole number of at least ${least}`,
    (value) => isFrom(least, value) && Number.isInteger(value),
  );
}

function isFrom(least: number, value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= least;
}

export function oneOf(...names: readonly string[]): Shape {
  return (value, path) => {
    if (typeof value === 'string' && names.includes(value)) return;
    const near = typeof value === 'string' ? didYouMean(value, names) : '';
    throw new TypeError(`${path} must be one of ${names.join(', ')}, not ${shown(value)}${near}`);
  };
}

/** Something that has the methods it is asked for. Other properties do not matter. */
export function hasMethods(must: string, ...methods: readonly string[]): Shape {
  return shape(
    must,
    (value) => isObject(value) && methods.every((name) => typeof value[name] === 'function'),
  );
}

export function listOf(each: Shape): Shape {
  return (value, path) => {
    list(value, path);
    for (const [i, one] of (value as readonly unknown[]).entries()) each(one, `${path}[${i}]`);
  };
}

/** An object with values of one kind under names that the user chooses. */
export function recordOf(must: string, each: Shape): Shape {
  const named = shape(must, isObject);
  return (value, path) => {
    named(value, path);
    for (const [name, one] of Object.entries(value as object))
      each(one, /^[\w-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`);
  };
}

/** A field that may be left out of a whole. */
export function optional(given: Shape): Shape {
  return (value, path) => {
    if (value !== undefined) given(value, path);
  };
}

/** An object of these fields and no others; each may be left out. The options themselves have no path. */
export function partial<Fields>(
  kinds: Shapes<Fields>,
  meant: (name: string) => string | undefined = (name) => nearest(name, Object.keys(kinds)),
): Shape {
  return (value, path) => {
    anyObject(value, path === '' ? 'the options' : path);
    const inside = path === '' ? '' : `${path}.`;
    const fields = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(fields)) {
      const given = fields[name];
      if (!Object.hasOwn(kinds, name)) {
        const near = meant(name);
        const hint = near === undefined ? '' : ` (did you mean ${inside}${near}?)`;
        throw new TypeError(`there is no option ${inside}${name}${hint}`);
      }
      if (given !== undefined) kinds[name as keyof Fields](given, inside + name);
    }
  };
}

/** An object of all these fields and no others. */
export function object<Fields>(kinds: Shapes<Fields>): Shape {
  const known = partial(kinds);
  return (value, path) => {
    known(value, path);
    for (const [name, needed] of Object.entries<Shape>(kinds))
      needed((value as Readonly<Record<string, unknown>>)[name], `${path}.${name}`);
  };
}

/** One of a union by `kind`. */
export function variant<Union extends { readonly kind: string }>(
  must: string,
  kinds: {
    readonly [Name in Union['kind']]: Shapes<Omit<Extract<Union, { readonly kind: Name }>, 'kind'>>;
  },
): Shape {
  const some = shape(must, isObject);
  const named = oneOf(...Object.keys(kinds));
  return (value, path) => {
    some(value, path);
    const { kind: name } = value as Union;
    named(name, `${path}.kind`);
    object({ kind: string, ...kinds[name as Union['kind']] })(value, path);
  };
}

/** The options of a factory, with its defaults for what is left out. */
export function optionsParser<Fields extends object>(
  factory: string,
  kinds: Shapes<Fields>,
  defaults: Fields,
): (options: Partial<Fields>) => Fields {
  const check = partial(kinds);
  return (options) => {
    anyObject(options, `what ${factory} is given`);
    check(options, factory);
    const said = Object.entries(options).filter(([, value]) => value !== undefined);
    return { ...defaults, ...Object.fromEntries(said) };
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
