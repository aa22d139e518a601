// Runs every `*.bench.ts` beside this file, one after the other, each in a process of its own; arguments choose by name.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const chosen = process.argv.slice(2);
const all = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.bench.ts'));
const files = all
  .filter((name) => chosen.length === 0 || chosen.some((part) => isMeant(name, part)))
  .toSorted();

/** A name that is one's own means that one; a part of names means all that have it. */
function isMeant(name: string, part: string): boolean {
  const own = `${part}.bench.ts`;
  return all.includes(own) ? name === own : name.includes(part);
}

for (const file of files) {
  console.log(`\n── ${file}`);
  const args = [...process.execArgv, `${import.meta.dirname}/${file}`];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
if (files.length === 0) console.log('No benchmark matches.');
