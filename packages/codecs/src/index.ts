export { aiSdk, type AiSdkMessage } from './ai-sdk.ts';
export { anthropic, type AnthropicMessage } from './anthropic.ts';
export { DecodeError } from './decode-error.ts';
export {
  openaiChat,
  type ChatAssistantMessage,
  type ChatContentPart,
  type ChatFunctionMessage,
  type ChatMessage,
  type ChatSystemMessage,
  type ChatToolCall,
  type ChatToolMessage,
  type ChatUserMessage,
} from './openai-chat.ts';
export { openaiResponses, type ResponsesItem } from './openai-responses.ts';
