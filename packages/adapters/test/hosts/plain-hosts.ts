import Anthropic from '@anthropic-ai/sdk';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ContentBlock,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI, type Content, type Part, type Tool } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import OpenAI from 'openai';
import { anthropic, bedrock, gemini, openaiChat } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';
import type { Controls } from '@bobbin/core/internal';
import { INSTRUCTIONS, messageWith, type Host, type HostRun } from './host-run.ts';

/** What a loop over a history of its own can do. */
function controlsOver<Wire>(bobbin: Controls<Wire>, history: Wire[]): Omit<HostRun, 'turn'> {
  return {
    pin: (text) => bobbin.pin(messageWith(history, text), history),
    compact: () => bobbin.compact(history),
    undo: () => bobbin.undo(history),
    recall: (query) => bobbin.recall(query, history),
  };
}

export const OPENAI: Host = {
  name: 'OpenAI',
  dialect: 'openai-chat',
  open({ url }, { windowTokens, memory, readFile }) {
    const client = new OpenAI({ apiKey: 'key', baseURL: url, maxRetries: 0 });
    const bobbin = createBobbin({ codec: openaiChat, window: windowTokens });
    const read: OpenAI.ChatCompletionTool = { type: 'function', function: { name: 'read_file' } };
    const tools = memory === 'offered' ? [read, ...bobbin.tools] : [read];
    const history: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: INSTRUCTIONS },
    ];
    async function turn(text: string): Promise<void> {
      history.push({ role: 'user', content: text });
      for (;;) {
        const { choices } = await bobbin.send(history, (messages) =>
          client.chat.completions.create({ model: 'scripted', messages, tools }),
        );
        const [{ message }] = choices as [OpenAI.ChatCompletion.Choice];
        history.push(message);
        if (message.tool_calls === undefined) return;
        for (const call of message.tool_calls) {
          const own = await bobbin.answer(call, history);
          history.push(own ?? { role: 'tool', tool_call_id: call.id, content: readFile() });
        }
      }
    }
    return { turn, ...controlsOver(bobbin, history) };
  },
};

export const ANTHROPIC: Host = {
  name: 'Anthropic',
  dialect: 'anthropic',
  open({ origin }, { windowTokens, memory, readFile }) {
    const client = new Anthropic({ apiKey: 'key', baseURL: origin, maxRetries: 0 });
    const bobbin = createBobbin({ codec: anthropic, window: windowTokens });
    const read: Anthropic.Tool = { name: 'read_file', input_schema: { type: 'object' } };
    const tools = memory === 'offered' ? [read, ...bobbin.tools] : [read];
    const history: Anthropic.MessageParam[] = [];
    async function turn(text: string): Promise<void> {
      history.push({ role: 'user', content: text });
      for (;;) {
        const { role, content } = await bobbin.send(history, (messages) =>
          client.messages.create({
            model: 'scripted',
            max_tokens: 1_000,
            system: INSTRUCTIONS,
            messages,
            tools,
          }),
        );
        history.push({ role, content });
        const results: Anthropic.ToolResultBlockParam[] = [];
        for (const block of content) {
          if (block.type !== 'tool_use') continue;
          const own = await bobbin.answer(block, history);
          results.push(own ?? { type: 'tool_result', tool_use_id: block.id, content: readFile() });
        }
        if (results.length === 0) return;
        history.push({ role: 'user', content: results });
      }
    }
    return { turn, ...controlsOver(bobbin, history) };
  },
};

export const GEMINI: Host = {
  name: 'Gemini',
  dialect: 'gemini',
  open({ origin }, { windowTokens, memory, readFile }) {
    const { models } = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: origin } });
    const bobbin = createBobbin({ codec: gemini, window: windowTokens });
    const read: Tool = { functionDeclarations: [{ name: 'read_file' }] };
    const tools = memory === 'offered' ? [read, ...bobbin.tools] : [read];
    const config = { systemInstruction: INSTRUCTIONS, tools };
    const history: Content[] = [];
    async function turn(text: string): Promise<void> {
      history.push({ role: 'user', parts: [{ text }] });
      for (;;) {
        const { candidates, functionCalls = [] } = await bobbin.send(history, (contents) =>
          models.generateContent({ model: 'scripted', contents, config }),
        );
        history.push(candidates?.[0]?.content ?? {});
        if (functionCalls.length === 0) return;
        const parts: Part[] = [];
        for (const { id = '', name = '', args = {} } of functionCalls) {
          const own = await bobbin.answer({ id, name, args }, history);
          parts.push(own ?? { functionResponse: { id, name, response: { output: readFile() } } });
        }
        history.push({ role: 'user', parts });
      }
    }
    return { turn, ...controlsOver(bobbin, history) };
  },
};

function bedrockClient(endpoint: string): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint,
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    maxAttempts: 1,
    // The client speaks HTTP/2 by default, which the scripted server does not.
    requestHandler: new NodeHttpHandler(),
  });
}

export const BEDROCK: Host = {
  name: 'Bedrock',
  dialect: 'bedrock',
  open({ origin }, { windowTokens, memory, readFile }) {
    const client = bedrockClient(origin);
    const bobbin = createBobbin({ codec: bedrock, window: windowTokens });
    const read = { toolSpec: { name: 'read_file', inputSchema: { json: { type: 'object' } } } };
    const tools = memory === 'offered' ? [read, ...bobbin.tools] : [read];
    const system = [{ text: INSTRUCTIONS }];
    const history: Message[] = [];
    async function turn(text: string): Promise<void> {
      history.push({ role: 'user', content: [{ text }] });
      for (;;) {
        const { output } = await bobbin.send(history, (messages) =>
          client.send(
            new ConverseCommand({ modelId: 'm', system, messages, toolConfig: { tools } }),
          ),
        );
        const message = output?.message;
        if (message === undefined) throw new Error('no answer');
        history.push(message);
        const content: ContentBlock[] = [];
        for (const block of message.content ?? []) {
          if (block.toolUse === undefined) continue;
          const { toolUseId } = block.toolUse;
          const own = await bobbin.answer(block, history);
          content.push(own ?? { toolResult: { toolUseId, content: [{ text: readFile() }] } });
        }
        if (content.length === 0) return;
        history.push({ role: 'user', content });
      }
    }
    return { turn, ...controlsOver(bobbin, history), close: () => client.destroy() };
  },
};
