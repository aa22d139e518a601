import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const ROOT = new URL('../../../', import.meta.url);
const OWN = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** The versions that the page says the adapters are tested with, by the name under which each is installed. */
function documented(): ReadonlyMap<string, string> {
  const page = readFileSync(new URL('docs/adapters.md', ROOT), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const cells = rows
    .map((row) => row.split('|')[4] ?? '')
    .filter((cell) => !cell.includes('npm run soak'));
  const pairs = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)` (\d[\d.]*)/g)]);
  return new Map(pairs.map(([, name, version]) => [name ?? '', version ?? '']));
}

function installed(name: string): string {
  const file = new URL(`node_modules/${name}/package.json`, ROOT);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

test('every version that the page names is the one that the tests run with', () => {
  const names = Object.keys(OWN.devDependencies).toSorted();
  assert.deepEqual(
    [...documented()].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    names.map((name) => [name, installed(name)]),
  );
});

test('every peer that a host may bring is documented with its range', () => {
  const page = readFileSync(new URL('docs/adapters.md', ROOT), 'utf8');
  for (const [name, range] of Object.entries(OWN.peerDependencies)) {
    if (name === '@langchain/core') continue;
    for (const each of range.split(' || '))
      assert.ok(page.includes(`\`${name}\` ${each}`), `${name} ${each}`);
  }
});
