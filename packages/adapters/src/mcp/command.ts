#!/usr/bin/env node
import { NotInstalled, orInstall } from '@bobbin/core/internal';
import { sessionMemory } from './session-memory.ts';

// bobbin-mcp PATH: a session file, or a folder, whose most recently written file is used.
const [path, ...more] = process.argv.slice(2);
if (path === undefined || more.length > 0) {
  process.stderr.write('bobbin-mcp: give one session file, or a folder of session files\n');
  process.exitCode = 2;
} else await serve(path);

async function serve(place: string): Promise<void> {
  try {
    const install = orInstall('the server', '@modelcontextprotocol/sdk');
    const { serveMcp } = await import('./mcp.ts').catch(install);
    await serveMcp(sessionMemory(place));
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    process.stderr.write(`bobbin-mcp: ${error.message}\n`);
    process.exitCode = 1;
  }
}
