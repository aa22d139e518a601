import type { Theme } from './theme.ts';

/** Colours the lines of a diff by the sign after their number. */
export function diffStyle({ added, removed, dim }: Theme): (line: string) => string {
  return (line) => {
    const sign = /^ *\d+ ([+-]) /.exec(line)?.[1];
    return (sign === '+' ? added : sign === '-' ? removed : dim)(line);
  };
}
