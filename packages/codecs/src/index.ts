export { aiSdk, type AiSdkMessage } from './ai-sdk/ai-sdk.ts';
export { anthropic, type AnthropicMessage } from './anthropic/anthropic.ts';
export { bedrock, BEDROCK_RULES, type BedrockMessage } from './bedrock/bedrock.ts';
export {
  aiSdkCacheMarkers,
  anthropicCacheMarkers,
  bedrockCacheMarkers,
  openaiCacheMarkers,
  type OpenAICacheOptions,
} from './cache-markers.ts';
export { gemini, GEMINI_RULES, type GeminiContent } from './gemini/gemini.ts';
export { DecodeError } from './wire/decode-error.ts';
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
} from './openai/chat.ts';
export { openaiResponses, type ResponsesItem } from './openai/responses.ts';
export { aiSdkProblems } from './validity/ai-sdk.ts';
export { anthropicProblems } from './validity/anthropic.ts';
export type { AnthropicRequest } from './validity/anthropic-turn.ts';
export { bedrockProblems, type BedrockRequest } from './validity/bedrock.ts';
export { geminiProblems } from './validity/gemini.ts';
export { openaiChatProblems } from './validity/openai-chat.ts';
export { openaiResponsesProblems, type ResponsesRequest } from './validity/openai-responses.ts';
export { signThinking } from './validity/thinking.ts';
export { encodeItems } from './openai/parted-reasoning.ts';
export { portable } from './portable.ts';
export { responseUsage, type ResponseUsage } from './response-usage.ts';
export { recogniseMessages } from './recognise.ts';
export { detectFormat, type FormatName, type MessageFormat } from './wire/format.ts';
export { isCompactionPart, summariesAfterCompaction } from './wire/compaction.ts';
export { isKeptByProvider } from './wire/kept-by-provider.ts';
export { readableJson, readableParts } from './wire/readable.ts';
export { serverToolsAsText } from './wire/server-tool.ts';
export { recogniseSession, SESSION_FORMATS } from './session-files/formats.ts';
export type {
  Session,
  SessionCompaction,
  SessionEntry,
  SessionFormat,
  SessionHeader,
} from './session-files/session.ts';
