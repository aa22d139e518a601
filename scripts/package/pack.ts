import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assemble } from './assemble.ts';

/** The projects that the package is made of, with all that they refer to. */
const PROJECTS = ['packages/bobbin', 'packages/cli'];

/** Compiles the workspace, assembles the package and packs it; gives the path of the tarball in a folder. */
export async function pack(root: string, folder: string): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // `npm run check` checks the types.
  execFileSync(process.execPath, [tsc, '-b', '--noCheck', ...PROJECTS], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const assembled = join(folder, 'package');
  mkdirSync(folder, { recursive: true });
  await assemble(root, assembled);
  const args = ['pack', '--silent', '--pack-destination', resolve(folder)];
  const name = execFileSync('npm', args, { cwd: assembled, encoding: 'utf8' });
  return join(folder, name.trim());
}
