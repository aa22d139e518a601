import type { ArrowFunctionExpression, Function, Span } from 'oxc-parser';
import { Visitor, parseSync } from 'oxc-parser';

/**
 * A function with a name. One without, such as the callback of `map` or a returned closure, is read with the function
 * that holds it, and counts as part of it.
 */
export interface NamedFunction {
  readonly path: string;
  readonly line: number;
  readonly name: string;
  /** How many lines of source it takes. */
  readonly lines: number;
  /** Where its code is: a block with its braces, or the expression of an arrow function. */
  readonly body: Span & { readonly kind: 'block' | 'expression' };
}

/** The functions of a file, in the order of the source. Overloads are none: they have no code. */
export function functionsOf(path: string, text: string): readonly NamedFunction[] {
  const found: NamedFunction[] = [];
  const names = new Map<Span | null, Span>();
  const lineAt = (offset: number): number => text.slice(0, offset).split('\n').length;
  const add = (node: Function | ArrowFunctionExpression): void => {
    const key = names.get(node) ?? node.id;
    if (node.body === null || key === null) return;
    const { type, start, end } = node.body;
    const kind = type === 'BlockStatement' ? 'block' : 'expression';
    const line = lineAt(node.start);
    const lines = lineAt(node.end) - line + 1;
    const name = text.slice(key.start, key.end);
    found.push({ path, line, name, lines, body: { kind, start, end } });
  };
  new Visitor({
    VariableDeclarator: ({ init, id }) => void names.set(init, id),
    AssignmentExpression: ({ right, left }) => void names.set(right, left),
    AssignmentPattern: ({ right, left }) => void names.set(right, left),
    Property: ({ value, key }) => void names.set(value, key),
    MethodDefinition: ({ value, key }) => void names.set(value, key),
    PropertyDefinition: ({ value, key }) => void names.set(value, key),
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(parseSync(path, text).program);
  return found;
}
