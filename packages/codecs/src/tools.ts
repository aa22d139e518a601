import { isJsonObject, parseJson, type ToolCall, type ToolCodec } from '@bobbin/core/internal';

/** A JSON schema, as the types of the providers' clients take it. */
export type ToolSchema = Record<string, unknown>;

export interface ChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: ToolSchema };
}

export interface ChatToolResult {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

export const CHAT_TOOLS: ToolCodec<ChatTool, ChatToolResult> = {
  tool: ({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }),
  call(call) {
    const { id, function: called } = fieldsOf(call);
    const { name, arguments: args } = fieldsOf(called);
    return toolCallOf(id, name, args);
  },
  result: ({ callId }, text) => ({ role: 'tool', tool_call_id: callId, content: text }),
};

export interface ResponsesTool {
  type: 'function';
  name: string;
  description: string;
  parameters: ToolSchema;
  strict: false;
}

export interface ResponsesToolResult {
  type: 'function_call_output';
  call_id: string;
  output: string;
}

export const RESPONSES_TOOLS: ToolCodec<ResponsesTool, ResponsesToolResult> = {
  tool: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }),
  call(call) {
    const { type, call_id: id, name, arguments: args } = fieldsOf(call);
    return type === 'function_call' ? toolCallOf(id, name, args) : undefined;
  },
  result: ({ callId }, text) => ({ type: 'function_call_output', call_id: callId, output: text }),
};

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: 'object' } & ToolSchema;
}

export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: string;
}

export const ANTHROPIC_TOOLS: ToolCodec<AnthropicTool, AnthropicToolResult> = {
  tool: ({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: 'object' },
  }),
  call(call) {
    const { type, id, name, input } = fieldsOf(call);
    return type === 'tool_use' ? toolCallOf(id, name, input) : undefined;
  },
  result: ({ callId }, text) => ({ type: 'tool_result', tool_use_id: callId, content: text }),
};

export interface GeminiTool {
  functionDeclarations: { name: string; description: string; parametersJsonSchema: ToolSchema }[];
}

export interface GeminiToolResult {
  functionResponse: { id?: string; name: string; response: Record<string, unknown> };
}

/** Gemini names its calls only if it must: without an id, the name alone says what is answered. */
export const GEMINI_TOOLS: ToolCodec<GeminiTool, GeminiToolResult> = {
  tool: ({ name, description, parameters }) => ({
    functionDeclarations: [{ name, description, parametersJsonSchema: parameters }],
  }),
  call(call) {
    const fields = fieldsOf(call);
    const { id = '', name, args } = fieldsOf(fields['functionCall'] ?? fields);
    return toolCallOf(id, name, args);
  },
  result: ({ callId, tool }, text) => ({
    functionResponse: {
      ...(callId === '' ? {} : { id: callId }),
      name: tool,
      response: { output: text },
    },
  }),
};

/** JSON as the types of AWS's client take it. */
export type BedrockJson =
  | null
  | boolean
  | number
  | string
  | BedrockJson[]
  | { [name: string]: BedrockJson };

export interface BedrockTool {
  toolSpec: { name: string; description: string; inputSchema: { json: BedrockJson } };
}

export interface BedrockToolResult {
  toolResult: { toolUseId: string; content: { text: string }[] };
}

export const BEDROCK_TOOLS: ToolCodec<BedrockTool, BedrockToolResult> = {
  tool: ({ name, description, parameters }) => ({
    toolSpec: { name, description, inputSchema: { json: parameters as BedrockJson } },
  }),
  call(call) {
    const fields = fieldsOf(call);
    const { toolUseId, name, input } = fieldsOf(fields['toolUse'] ?? fields);
    return toolCallOf(toolUseId, name, input);
  },
  result: ({ callId }, text) => ({
    toolResult: { toolUseId: callId, content: [{ text }] },
  }),
};

export interface AiSdkFunctionTool {
  type: 'function';
  name: string;
  description: string;
  inputSchema: ToolSchema;
}

export interface AiSdkToolResult {
  role: 'tool';
  content: {
    type: 'tool-result';
    toolCallId: string;
    toolName: string;
    output: { type: 'text'; value: string };
  }[];
}

export const AI_SDK_TOOLS: ToolCodec<AiSdkFunctionTool, AiSdkToolResult> = {
  tool: ({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  }),
  call(call) {
    const { toolCallId, toolName, input } = fieldsOf(call);
    return toolCallOf(toolCallId, toolName, input);
  },
  result: ({ callId: toolCallId, tool: toolName }, value) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value } }],
  }),
};

/** A call, if it has an id and a name. Arguments may be JSON in a text. */
export function toolCallOf(id: unknown, name: unknown, args: unknown): ToolCall | undefined {
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  return { callId: id, tool: name, args: typeof args === 'string' ? parseJson(args) : args };
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
