import { globSync, readFileSync } from 'node:fs';
import { parseModule } from './module.ts';
import { placeOf, violations } from './rules.ts';

const MODULES = ['packages/*/{src,bin,test}/**/*.{ts,mjs}', '{test,scripts,bench}/**/*.{ts,mjs}'];

function dependenciesOf(path: string): string[] {
  const place = placeOf(path);
  if (place === undefined) return [];
  const manifest = JSON.parse(readFileSync(`packages/${place.name}/package.json`, 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(manifest.dependencies ?? {});
}

const paths = globSync(MODULES)
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted();
const found = paths.flatMap((path) =>
  violations(parseModule(path, readFileSync(path, 'utf8')), dependenciesOf(path)),
);

for (const { path, line, message } of found) console.error(`${path}:${line}: ${message}`);
if (found.length > 0) process.exitCode = 1;
else console.log(`${paths.length} modules keep the rules.`);
