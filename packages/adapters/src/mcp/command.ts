#!/usr/bin/env node
import { serveMcp } from './mcp.ts';
import { sessionMemory } from './session-memory.ts';

// bobbin-mcp PATH: a session file, or a folder, whose most recently written file is used.
const [path, ...more] = process.argv.slice(2);
if (path === undefined || more.length > 0) {
  process.stderr.write('bobbin-mcp: give one session file, or a folder of session files\n');
  process.exitCode = 2;
} else await serveMcp(sessionMemory(path));
