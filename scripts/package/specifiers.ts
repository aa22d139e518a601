import { parseSync } from 'oxc-parser';

/** The name of another module in a file: what it says, and where its text is, with its quotes. */
export interface Specifier {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** The names that a static import takes from it; `*` if it may take any. */
  readonly names: readonly string[];
}

/** Where a file names a module other than by an import or export: as a type, or as a package of the workspace. */
const ELSEWHERE = /(?<=\bimport\()["'][^"']+["'](?=\)[.;,>\s[])|(?<== )'@bobbin\/[^']+'/g;

/** Every module that a file names: in imports, in exports, and in constants that name a package of the workspace. */
export function specifiersOf(path: string, text: string): Specifier[] {
  const { module, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  const found = new Map<number, Specifier>();
  const add = (start: number, end: number, names: readonly string[] = ['*']): void => {
    const value = /^["'](.*)["']$/.exec(text.slice(start, end))?.[1];
    if (value !== undefined) found.set(start, { value, start, end, names });
  };
  for (const { moduleRequest, entries } of module.staticImports) {
    const names = entries.map(({ importName }) => importName.name ?? '*');
    add(moduleRequest.start, moduleRequest.end, names);
  }
  for (const { entries } of module.staticExports)
    for (const { moduleRequest: request } of entries)
      if (request !== null) add(request.start, request.end);
  for (const { moduleRequest: request } of module.dynamicImports) add(request.start, request.end);
  for (const match of text.matchAll(ELSEWHERE)) add(match.index, match.index + match[0].length);
  return [...found.values()];
}

/** The text with other names in place of some specifiers. */
export function renamed(
  text: string,
  specifiers: readonly Specifier[],
  nameOf: (specifier: Specifier) => string,
): string {
  return specifiers
    .toSorted((a, b) => b.start - a.start)
    .reduce(
      (now, each) => `${now.slice(0, each.start)}'${nameOf(each)}'${now.slice(each.end)}`,
      text,
    );
}
