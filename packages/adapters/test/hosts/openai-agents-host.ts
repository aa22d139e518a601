import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
import { openaiAgentsBobbin } from '@bobbin/adapters/openai-agents';
import { INSTRUCTIONS, messageWith, type Host } from './host-run.ts';

setTracingDisabled(true);

export const OPENAI_AGENTS: Host = {
  name: 'OpenAI Agents',
  dialect: 'openai-responses',
  open({ url }, { windowTokens, memory, readFile }) {
    const bobbin = openaiAgentsBobbin({ thread: 'files', window: windowTokens });
    const inner = new OpenAIProvider({ apiKey: 'key', baseURL: url, useResponses: true });
    const read = tool({
      name: 'read_file',
      description: 'Reads a file.',
      parameters: { type: 'object', properties: {}, required: [], additionalProperties: true },
      strict: false,
      execute: readFile,
    });
    const agent = new Agent({
      name: 'reader',
      instructions: INSTRUCTIONS,
      model: 'scripted',
      tools: memory === 'offered' ? [read, ...bobbin.tools] : [read],
    });
    const runner = new Runner({ modelProvider: bobbin.provider(inner) });
    return {
      async turn(text) {
        await runner.run(agent, text, { session: bobbin.session, maxTurns: 20 });
      },
      pin: async (text) => bobbin.pin(messageWith(await bobbin.session.getItems(), text)),
      compact: () => bobbin.compact(),
      undo: () => bobbin.undo(),
      recall: (query) => bobbin.recall(query),
    };
  },
};
