import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, tool } from 'ai';
import { mastraBobbin } from '@bobbin/adapters/mastra';
import { INSTRUCTIONS, messageWith, type Host } from './host-run.ts';
import { installedHosts } from './installed-hosts.ts';

interface Agent {
  generate(text: string, options: object): Promise<unknown>;
}

type AgentClass = new (config: object) => Agent;
type MemoryClass = new (config: object) => object;

/** A module of Mastra, from where the hosts are installed: it is not a dependency of the package. */
async function mastra<Module>(name: string): Promise<Module> {
  const require = createRequire(join(installedHosts(), 'package.json'));
  return (await import(pathToFileURL(require.resolve(`@mastra/core/${name}`)).href)) as Module;
}

const MEMORY = { thread: 'files', resource: 'reader' };

export const MASTRA: Host = {
  name: 'Mastra',
  dialect: 'openai-chat',
  async open({ url }, { windowTokens, memory, readFile }) {
    const { Agent } = await mastra<{ readonly Agent: AgentClass }>('agent');
    const { MockMemory } = await mastra<{ readonly MockMemory: MemoryClass }>('memory');
    const bobbin = mastraBobbin({ window: windowTokens });
    const read_file = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: readFile });
    const agent = new Agent({
      id: 'reader',
      name: 'reader',
      instructions: INSTRUCTIONS,
      model: createOpenAI({ apiKey: 'key', baseURL: url }).chat('scripted'),
      memory: new MockMemory({ options: { lastMessages: 10_000 } }),
      tools: memory === 'offered' ? { read_file, ...bobbin.tools } : { read_file },
      inputProcessors: [bobbin],
      errorProcessors: [bobbin],
      maxRetries: 0,
    });
    const said: { readonly role: 'user'; readonly content: string }[] = [];
    return {
      async turn(text) {
        said.push({ role: 'user', content: text });
        await agent.generate(text, { maxSteps: 20, memory: MEMORY });
      },
      pin: (text) => bobbin.pin(messageWith(said, text)),
      compact: () => bobbin.compact(),
      undo: () => bobbin.undo(),
      recall: (query) => bobbin.recall(query),
    };
  },
};
