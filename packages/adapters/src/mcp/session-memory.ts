import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createBobbin, memoryArtifacts, memoryStore, presets } from '@bobbin/core';
import { sorted } from '@bobbin/core/internal';
import { portable, recogniseSession } from '@bobbin/codecs';
import type { McpOptions } from './mcp.ts';

/**
 * What a client's own session file says, as memory for `serveMcp`: all of it can be recalled, also what the client has
 * compacted. In a folder the file that was written last counts. It is read again when it has changed.
 */
export function sessionMemory(path: string): () => Promise<McpOptions> {
  let known: { readonly stamp: string; readonly options: Promise<McpOptions> } | undefined;
  return async () => {
    const file = await newestFile(path);
    const { mtimeMs, size } = await stat(file);
    const stamp = `${file} ${mtimeMs} ${size}`;
    if (known?.stamp !== stamp) known = { stamp, options: memoryOf(file) };
    return known.options;
  };
}

async function newestFile(path: string): Promise<string> {
  if ((await stat(path)).isFile()) return path;
  const names = (await readdir(path)).filter((name) => /\.jsonl?$/.test(name));
  const files = await Promise.all(
    names.map(async (name) => ({ name, mtimeMs: (await stat(join(path, name))).mtimeMs })),
  );
  const [newest] = sorted(files, (a, b) => b.mtimeMs - a.mtimeMs);
  if (newest === undefined) throw new Error(`${path} holds no session file (*.jsonl, *.json)`);
  return join(path, newest.name);
}

async function memoryOf(file: string): Promise<McpOptions> {
  const text = await readFile(file, 'utf8');
  const format = recogniseSession(text);
  if (format === undefined)
    throw new Error(`${file} is no session file of Bobbin, pi, Claude Code, Codex or OpenCode`);
  const [store, artifacts] = [memoryStore(), memoryArtifacts()];
  const thread = basename(file).replace(/\.jsonl?$/, '');
  // Recall finds what was compacted, so everything but the newest message is.
  const preset = presets.tokenWindow(0);
  const session = await createBobbin({ store, artifacts, preset }).thread(thread);
  await session.append(...portable(format.decode(text).messages));
  await session.compact();
  return { store, artifacts, thread };
}
