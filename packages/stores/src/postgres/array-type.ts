import type { PostgresType } from 'postgres';

/** The arrays that our functions take, by their fixed numbers (catalogue pg_type). None is ever read. */
export const ARRAYS: Readonly<Record<'int4s' | 'texts', PostgresType>> = {
  int4s: arrayType(1007),
  texts: arrayType(1009),
};

function arrayType(oid: number): PostgresType {
  return { to: oid, from: [oid], serialize: arrayText, parse: (text: unknown) => text };
}

/**
 * The text form of an array (PostgreSQL, "Array Input and Output Syntax"): quoted, all that is special after a backslash.
 * The driver serializes again what it sends again: a text is one already.
 */
export function arrayText(values: string | readonly (string | number | null)[]): string {
  if (typeof values === 'string') return values;
  return `{${values.map((value) => (value === null ? 'NULL' : quoted(String(value)))).join(',')}}`;
}

/** JSON quotes a text in the same way, and much faster, if it has no control characters. */
function quoted(text: string): string {
  if (!/[\p{Cc}\p{Cs}]/u.test(text)) return JSON.stringify(text);
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
