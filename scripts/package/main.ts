// Makes the tarball of the package in dist/: npm run package
import { statSync } from 'node:fs';
import { pack } from './pack.ts';

const tarball = await pack(process.cwd(), 'dist');
console.log(`${tarball}: ${Math.round(statSync(tarball).size / 1_000)} kB`);
