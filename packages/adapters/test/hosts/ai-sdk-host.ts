import { createOpenAI } from '@ai-sdk/openai';
import {
  generateText,
  isStepCount,
  jsonSchema,
  tool,
  wrapLanguageModel,
  type ModelMessage,
} from 'ai';
import { aiSdkBobbin } from '@bobbin/adapters/ai-sdk';
import { INSTRUCTIONS, messageWith, type Host } from './host-run.ts';

export const AI_SDK: Host = {
  name: 'AI SDK',
  dialect: 'openai-responses',
  open({ url }, { windowTokens, memory, readFile }) {
    const read = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: readFile });
    const toolSet = { read_file: read };
    const bobbin = aiSdkBobbin({ window: windowTokens, toolSet });
    const tools = memory === 'offered' ? { ...toolSet, ...bobbin.tools } : toolSet;
    const model = wrapLanguageModel({
      model: createOpenAI({ apiKey: 'key', baseURL: url }).responses('scripted'),
      middleware: bobbin.middleware,
    });
    const history: ModelMessage[] = [];
    return {
      async turn(text) {
        history.push({ role: 'user', content: text });
        const { responseMessages } = await generateText({
          model,
          instructions: INSTRUCTIONS,
          messages: history,
          tools,
          stopWhen: isStepCount(20),
          prepareStep: bobbin.prepareStep,
          onStepFinish: bobbin.onStepFinish,
          maxRetries: 0,
        });
        history.push(...responseMessages);
      },
      pin: (text) => bobbin.pin(messageWith(history, text), history),
      compact: () => bobbin.compact(history),
      undo: () => bobbin.undo(history),
      recall: (query) => bobbin.recall(query, history),
    };
  },
};
