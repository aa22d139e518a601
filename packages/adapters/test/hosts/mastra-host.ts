import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createOpenAI } from '@ai-sdk/openai';
import { jsonSchema, tool } from 'ai';
import { mastraBobbin } from '@bobbin/adapters/mastra';
import { INSTRUCTIONS, messageWith, type Host } from './host-run.ts';
import { installedHosts } from './installed-hosts.ts';

/** Not a dependency of the package. */
const MASTRA = '@mastra/core/agent';

interface Agent {
  generate(
    messages: readonly object[],
    options: object,
  ): Promise<{ readonly response: { readonly messages?: readonly object[] } }>;
}

/** Mastra's own agent, from where the hosts are installed. */
async function mastraAgent(): Promise<new (config: object) => Agent> {
  const require = createRequire(join(installedHosts(), 'package.json'));
  const { Agent } = (await import(pathToFileURL(require.resolve(MASTRA)).href)) as {
    readonly Agent: new (config: object) => Agent;
  };
  return Agent;
}

export const MASTRA_AGENT: Host = {
  name: 'Mastra',
  dialect: 'openai-chat',
  async open({ url }, { windowTokens, memory, readFile }) {
    const Agent = await mastraAgent();
    const bobbin = mastraBobbin({ window: windowTokens });
    const read_file = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: readFile });
    const agent = new Agent({
      id: 'reader',
      name: 'reader',
      instructions: INSTRUCTIONS,
      model: createOpenAI({ apiKey: 'key', baseURL: url }).chat('scripted'),
      tools: memory === 'offered' ? { read_file, ...bobbin.tools } : { read_file },
      inputProcessors: [bobbin],
      errorProcessors: [bobbin],
      maxRetries: 0,
    });
    const history: object[] = [];
    return {
      async turn(text) {
        history.push({ role: 'user', content: text });
        const { response } = await agent.generate(history, { maxSteps: 20 });
        history.push(...(response.messages ?? []));
      },
      pin: (text) => bobbin.pin(messageWith(history, text) as never),
      compact: () => bobbin.compact(),
      undo: () => bobbin.undo(),
      recall: (query) => bobbin.recall(query),
    };
  },
};
