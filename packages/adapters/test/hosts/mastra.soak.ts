import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { tool } from 'ai';
import { z } from 'zod';
import { mastraBobbin } from '@bobbin/adapters/mastra';
import type { CompactionEvent } from '@bobbin/core';
import { providerServer, type ProviderStep } from '@bobbin/testing';
import { installedHosts } from './installed-hosts.ts';

const REQUESTS = 100;
const READ = { kind: 'call', tool: 'read_file', args: { path: 'src/a.ts' } } as const;
const SCRIPT: readonly ProviderStep[] = [
  ...Array.from({ length: 40 }, () => READ),
  { kind: 'overflow' },
  ...Array.from({ length: REQUESTS - 43 }, () => READ),
  { kind: 'call', tool: 'recall', args: { query: 'port 8042' } },
  { kind: 'answer', text: 'It is 8042.' },
];

/** Not a dependency of the package. */
const MASTRA = '@mastra/core/agent';

interface Agent {
  generate(prompt: string, options: object): Promise<{ readonly text: string }>;
}

type AgentClass = new (config: object) => Agent;

/** Mastra's own agent, from where the hosts are installed. */
async function mastraAgent(): Promise<AgentClass> {
  const require = createRequire(join(installedHosts(), 'package.json'));
  const { Agent } = (await import(pathToFileURL(require.resolve(MASTRA)).href)) as {
    readonly Agent: AgentClass;
  };
  return Agent;
}

test(`an agent of Mastra asks ${REQUESTS} times with fitted prompts`, async (t) => {
  const Agent = await mastraAgent();
  const server = await providerServer('openai-chat', ...SCRIPT);
  t.after(() => server.close());
  const refusals: CompactionEvent[] = [];
  const bobbin = mastraBobbin({
    window: 16_000,
    onEvent: (event) => event.kind === 'refused' && refusals.push(event),
  });
  let reads = 0;
  const read = tool({
    description: 'Reads a file.',
    inputSchema: z.object({ path: z.string() }),
    execute: () => `port = ${reads++ === 0 ? 8042 : 0};\n${'compute(1);\n'.repeat(80)}`,
  });
  const agent = new Agent({
    id: 'reader',
    name: 'reader',
    instructions: 'Read all files. Never touch deploy/prod.',
    model: createOpenAI({ apiKey: 'key', baseURL: server.url }).chat('gpt-5'),
    tools: { read_file: read, ...bobbin.tools },
    inputProcessors: [bobbin],
    errorProcessors: [bobbin],
    maxRetries: 0,
  });
  const { text } = await agent.generate('Where is the port set? Never restart db-1.', {
    maxSteps: REQUESTS + 5,
  });
  assert.equal(text, 'It is 8042.');
  server.expectDone();
  assert.deepEqual([server.requests.length, refusals.length], [REQUESTS, 1]);
  for (const request of server.requests) assert.match(request.text, /Never restart db-1/);
  assert.match(
    server.requests.at(-1)?.text ?? '',
    /turn 1, tool read_file[^]*port = 8042/,
    'recall has found it',
  );
  assert.equal(await bobbin.undo(), true);
});
