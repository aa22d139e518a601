import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutantsOf, mutated } from '../scripts/mutate/mutants.ts';

test('a mutant changes one operator or constant of what runs, not of types or tables', () => {
  const text = `type Step = -1 | 1;
const TABLE = [3, 5];
const fits = (n: number, most = 10) => !isOver || (n < most && TABLE[0] === n);
for (let i = 0; i < 2; i++) total += i - 1; // <
const isOver = false;
`;
  const lines = text.split('\n');
  const changed = mutantsOf('step.ts', text).map((mutant) => {
    const others = mutated(text, mutant).split('\n');
    const [line = ''] = others.splice(mutant.line - 1, 1);
    assert.deepEqual(others, lines.toSpliced(mutant.line - 1, 1));
    return line;
  });
  assert.deepEqual(changed, [
    'const fits = (n: number, most = 11) => !isOver || (n < most && TABLE[0] === n);',
    'const fits = (n: number, most = 10) => !isOver && (n < most && TABLE[0] === n);',
    'const fits = (n: number, most = 10) => isOver || (n < most && TABLE[0] === n);',
    'const fits = (n: number, most = 10) => !isOver || (n < most || TABLE[0] === n);',
    'const fits = (n: number, most = 10) => !isOver || (n <= most && TABLE[0] === n);',
    'const fits = (n: number, most = 10) => !isOver || (n < most && TABLE[0] !== n);',
    'const fits = (n: number, most = 10) => !isOver || (n < most && TABLE[1] === n);',
    'for (let i = 1; i < 2; i++) total += i - 1; // <',
    'for (let i = 0; i <= 2; i++) total += i - 1; // <',
    'for (let i = 0; i < 3; i++) total += i - 1; // <',
    'for (let i = 0; i < 2; i--) total += i - 1; // <',
    'for (let i = 0; i < 2; i++) total -= i - 1; // <',
    'for (let i = 0; i < 2; i++) total += i + 1; // <',
    'for (let i = 0; i < 2; i++) total += i - 2; // <',
    'const isOver = true;',
  ]);
});
