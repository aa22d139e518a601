import { type Span, Visitor, parseSync } from 'oxc-parser';

/** A small change of one file that a test should notice. */
export interface Mutant extends Span {
  readonly path: string;
  readonly line: number;
  readonly was: string;
  readonly now: string;
}

const SWAPPED = new Map(
  ['< <=', '> >=', '=== !==', '+ -', '* /', '&& ||', '+= -=', '++ --'].flatMap((pair) => {
    const [a = '', b = ''] = pair.split(' ');
    return [
      [a, b],
      [b, a],
    ];
  }),
);

/** Every mutant of a file: an operator becomes its neighbour, a number one more, a boolean the other, `!` nothing. */
export function mutantsOf(path: string, text: string): readonly Mutant[] {
  const found: Mutant[] = [];
  // What is stripped with the types, and the figures of tables, which are data.
  const skipped = new Set<Span>();
  const add = (start: number, was: string, now: string | undefined): void => {
    const line = text.slice(0, start).split('\n').length;
    if (now !== undefined) found.push({ path, line, start, end: start + was.length, was, now });
  };
  const swap = (operator: string, after: number): void =>
    add(text.indexOf(operator, after), operator, SWAPPED.get(operator));
  new Visitor({
    TSLiteralType: ({ literal }) =>
      void skipped.add('argument' in literal ? literal.argument : literal),
    ArrayExpression: ({ elements }) => elements.forEach((each) => each && skipped.add(each)),
    BinaryExpression: ({ operator, left }) => swap(operator, left.end),
    LogicalExpression: ({ operator, left }) => swap(operator, left.end),
    AssignmentExpression: ({ operator, left }) => swap(operator, left.end),
    UpdateExpression: ({ operator, start, end, prefix }) =>
      swap(operator, prefix ? start : end - 2),
    UnaryExpression: ({ operator, start }) => operator === '!' && add(start, '!', ''),
    Literal: (node) => {
      if (skipped.has(node)) return;
      const { value, start, end } = node;
      const was = text.slice(start, end);
      if (typeof value === 'number') add(start, was, String(value + 1));
      if (typeof value === 'boolean') add(start, was, String(!value));
    },
  }).visit(parseSync(path, text).program);
  return found;
}

export function mutated(text: string, { start, end, now }: Mutant): string {
  return text.slice(0, start) + now + text.slice(end);
}
