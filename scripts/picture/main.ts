// Draws the pictures of the README from what `npm start` prints: npm run picture
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { linesOf } from './terminal-text.ts';
import { DARK, LIGHT, svgOf } from './svg.ts';

/** The parts of the output that a reader understands in a minute, by the beginnings of their headings. */
const SHOWN = ['A long session', '  Compacted in'];

const command = ['packages/cli/bin/bobbin.mjs', 'demo'];
const output = execFileSync(process.execPath, command, {
  env: { ...process.env, FORCE_COLOR: '1' },
  encoding: 'utf8',
});

/** Parts begin after an empty line; what has no heading of its own belongs to the part before. */
function parts(text: string): string[] {
  return text.trim().split(/\n\n(?=\S|  Compacted)/);
}

// oxlint-disable-next-line no-control-regex -- colours begin with a control character
const plain = (text: string): string => text.replaceAll(/\u001B\[\d+m/g, '');
const shown = parts(output).filter((part) => SHOWN.some((start) => plain(part).startsWith(start)));
const lines = linesOf(['\u001B[2m$\u001B[22m npm start', ...shown].join('\n\n'));
mkdirSync('docs/pictures', { recursive: true });
writeFileSync('docs/pictures/demo-light.svg', svgOf(lines, LIGHT));
writeFileSync('docs/pictures/demo-dark.svg', svgOf(lines, DARK));
console.log(`docs/pictures/demo-{light,dark}.svg: ${lines.length} lines`);
