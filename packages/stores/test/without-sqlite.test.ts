import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** What a program does in a runtime that has no SQLite. */
const PROGRAM = `
import { folderArtifacts, sqliteStore } from '@bobbin/stores';
const folder = process.argv[1];
const artifacts = folderArtifacts(folder + '/artifacts');
const id = await artifacts.put('kept', {
  tenant: 't', thread: 'a', createdAt: 0, mediaType: 'text/plain', sensitivity: 'internal',
});
console.log(await artifacts.get(id, { tenant: 't' }));
try {
  sqliteStore(folder + '/store.db');
} catch (error) {
  console.log(error.name + ': ' + error.message);
}
`;

test('H4 without node:sqlite the package loads, artifacts work, and a SQLite store says what is missing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bobbin-no-sqlite-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const args = [
    '--no-experimental-sqlite',
    '--conditions=@bobbin/source',
    '--input-type=module',
    '--eval',
    PROGRAM,
    folder,
  ];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8', cwd: import.meta.dirname });
  assert.equal(
    said,
    'kept\nStoreError: this runtime has no node:sqlite: run Node 22.18 or later\n',
  );
});
