// Loaded before a test file: what is read of one source file is the mutant that BOBBIN_MUTANT gives. The file itself stays
// as it is.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { mutated, type Mutant } from './mutants.ts';

const mutant = JSON.parse(process.env['BOBBIN_MUTANT'] ?? 'null') as Mutant | null;
if (mutant !== null) {
  const changed = pathToFileURL(resolve(mutant.path)).href;
  const source = mutated(readFileSync(mutant.path, 'utf8'), mutant);
  registerHooks({
    load: (url, context, nextLoad) =>
      url === changed
        ? { format: 'module-typescript', source, shortCircuit: true }
        : nextLoad(url, context),
  });
}
