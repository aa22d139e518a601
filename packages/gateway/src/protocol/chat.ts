import { openaiChat } from '@bobbin/codecs';
import { ChatReader } from '../answer/chat-reader.ts';
import { chatTools } from '../tools/chat-tools.ts';
import { asksForSummary } from './client-compaction.ts';
import { objectsIn, tokensIn, type Protocol } from './protocol.ts';

/** OpenAI Chat Completions, which most other servers speak too. */
export const chat: Protocol = {
  name: 'openai-chat',
  provider: 'openai',
  codec: openaiChat,
  field: 'messages',
  beside: (body) => ({
    system: '',
    tools: body['tools'] ?? body['functions'] ?? [],
    outputTokens: tokensIn(body, 'max_completion_tokens', 'max_tokens'),
  }),
  leaveAlone: ({ messages }) =>
    asksForSummary(objectsIn(messages)) ? "the client's own compaction" : undefined,
  tools: chatTools,
  newReader: () => new ChatReader(),
};
