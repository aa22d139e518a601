import { isKeptByProvider, openaiResponses } from '@bobbin/codecs';
import { ResponsesReader } from '../answer/responses-reader.ts';
import { responsesTools } from '../tools/responses-tools.ts';
import { asksForSummary } from './client-compaction.ts';
import { objectsIn, tokensIn, type Protocol } from './protocol.ts';

/** OpenAI Responses. */
export const responses: Protocol = {
  name: 'openai-responses',
  provider: 'openai',
  codec: openaiResponses,
  field: 'input',
  beside: (body) => ({
    system: typeof body['instructions'] === 'string' ? body['instructions'] : '',
    tools: body['tools'] ?? [],
    outputTokens: tokensIn(body, 'max_output_tokens'),
  }),
  leaveAlone(body) {
    const items = objectsIn(body['input']);
    if (isKeptByProvider(body)) return 'the provider keeps the conversation';
    if (objectsIn(body['context_management']).some(({ type }) => type === 'compaction'))
      return 'the provider compacts the conversation';
    if (items.some(({ type }) => type === 'compaction' || type === 'compaction_trigger'))
      return 'the provider compacted the conversation';
    return asksForSummary(items) ? "the client's own compaction" : undefined;
  },
  tools: responsesTools,
  newReader: () => new ResponsesReader(),
};
