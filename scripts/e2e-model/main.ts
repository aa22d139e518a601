// Summarises recorded spans with a small real model, served on loopback: `npm run e2e:model`. The model is installed
// into `.e2e/` (400 MB) the first time; the recordings are looked for in `../shared/transcripts`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installModel } from './install.ts';
import { loadModel } from './llama.ts';
import { serveModel } from './serve.ts';

const CONTEXT_TOKENS = 2_048;
const root = join(import.meta.dirname, '..', '..');
const transcripts = join(root, '..', 'shared', 'transcripts');

if (existsSync(transcripts)) {
  const folder = join(root, '.e2e');
  const server = await serveModel(
    await loadModel(folder, await installModel(folder), CONTEXT_TOKENS),
  );
  const measure = spawn(
    process.execPath,
    ['--conditions=@bobbin/source', join(root, 'packages', 'models', 'test', 'recall.e2e.ts')],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        BOBBIN_E2E_URL: server.url,
        BOBBIN_E2E_CONTEXT_TOKENS: String(CONTEXT_TOKENS),
        BOBBIN_E2E_TRANSCRIPTS: transcripts,
      },
    },
  );
  const [code] = (await once(measure, 'exit')) as [number | null];
  process.exit(code ?? 1);
} else console.log(`There are no recordings in ${transcripts}: nothing to summarise.`);
