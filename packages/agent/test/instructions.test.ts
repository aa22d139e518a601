import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readInstructions } from '../src/input/instructions.ts';
import { temporaryFolder } from './terminal.ts';

test('instruction files: links stay within the repository; the user’s own may lead anywhere', (t) => {
  const root = temporaryFolder(t);
  const repository = join(root, 'repository');
  const folders = { project: join(repository, 'app'), config: join(root, 'config'), data: root };
  for (const folder of [folders.project, folders.config, join(repository, '.git')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'id_rsa'), 'PRIVATE KEY');
  writeFileSync(join(root, 'dotfile.md'), 'my own');
  writeFileSync(join(repository, 'rules.md'), 'the rules');
  symlinkSync(join(root, 'dotfile.md'), join(folders.config, 'AGENTS.md'));
  symlinkSync(join(root, 'id_rsa'), join(repository, 'AGENTS.md'));
  symlinkSync('../rules.md', join(folders.project, 'CLAUDE.md'));
  assert.deepEqual(readInstructions(folders), [
    { path: join(folders.config, 'AGENTS.md'), content: 'my own' },
    { path: join(folders.project, 'CLAUDE.md'), content: 'the rules' },
  ]);
  execFileSync('bash', ['-c', 'mkfifo AGENTS.md'], { cwd: folders.project });
  assert.equal(readInstructions(folders).length, 2);
});
