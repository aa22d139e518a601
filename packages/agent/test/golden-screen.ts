import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestTerminal } from './terminal.ts';

/**
 * Compares a screen with the one that is kept. Figures that depend on the engine's counting are left out: other tests
 * judge them. `BOBBIN_UPDATE_SCREENS=1` keeps the screen as it is now.
 */
export function assertScreen(name: string, screen: string): void {
  const path = pathOf(name);
  const actual = `${withoutFigures(screen)}\n`;
  if (process.env['BOBBIN_UPDATE_SCREENS'] === '1' || !existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, actual);
  }
  assert.equal(actual, readFileSync(path, 'utf8'), `screen ${name}`);
}

const PATIENCE_MS = 20_000;

/** Compares the screen once it is at rest. A program that a busy machine holds up rests too early: it is waited for. */
export async function assertSettled(
  name: string,
  terminal: TestTerminal,
  quietMs?: number,
): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  let screen = await terminal.settled(quietMs);
  while (!isKept(name, screen) && Date.now() < until) screen = await terminal.settled(quietMs);
  assertScreen(name, screen);
}

function isKept(name: string, screen: string): boolean {
  if (process.env['BOBBIN_UPDATE_SCREENS'] === '1' || !existsSync(pathOf(name))) return true;
  return `${withoutFigures(screen)}\n` === readFileSync(pathOf(name), 'utf8');
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`screens/${name}.txt`, import.meta.url));
}

function withoutFigures(screen: string): string {
  return screen
    .replaceAll(/\b\d+(?:\.\d+)?[kM]\b/g, 'N')
    .replaceAll(/context \d+%/g, 'context N%')
    .replaceAll(/cache \d+% · used \d*N?/g, 'cache N% · used N')
    .replaceAll(/… \d+ s · /g, '… S s · ')
    .replaceAll(/^(context .*?) {2,}(\S+)$/gm, '$1  $2')
    .replaceAll(/\d+ messages \(turns/g, 'N messages (turns')
    .replaceAll(/ +\S*@16000$/gm, ' MODEL')
    .replaceAll(/^ {2}([#@%!=+.]) ([a-z ]+?) +\S+ +\d+%$/gm, '  $1 $2 N')
    .replaceAll(/^\[[#@%!=+.]{24}\]/gm, '[BAR]')
    .replaceAll(/([Ss])tep \d+/g, '$1tep N')
    .replaceAll(/\d{8}-\d{6}-[0-9a-f]{6}/g, 'SESSION')
    .replaceAll(/127\.0\.0\.1:\d+ */g, 'HOST')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')
    .replaceAll(/─{3,}/g, '───')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
