import { anthropic as codec, anthropicCacheMarkers, isKeptByProvider } from '@bobbin/codecs';
import { isJsonObject, type JsonObject } from '@bobbin/core/internal';
import { AnthropicReader } from '../answer/anthropic-reader.ts';
import { anthropicTools } from '../tools/anthropic-tools.ts';
import { asksForSummary } from './client-compaction.ts';
import { isGiven, objectsIn, textIn, tokensIn, type Protocol } from './protocol.ts';

/** Anthropic Messages. */
export const anthropic: Protocol = {
  name: 'anthropic',
  provider: 'anthropic',
  codec: codec,
  field: 'messages',
  beside: (body) => ({
    system: textIn(body['system']),
    tools: body['tools'] ?? [],
    outputTokens: tokensIn(body, 'max_tokens'),
  }),
  leaveAlone(body) {
    const { context_management: managed, messages } = body;
    if (isKeptByProvider(body)) return 'the provider keeps the conversation';
    const edits = isJsonObject(managed) ? objectsIn(managed['edits']) : [];
    if (isGiven(body['compaction']) || edits.some(isCompaction))
      return 'the provider compacts the conversation';
    const list = objectsIn(messages);
    if (list.some(({ content }) => objectsIn(content).some(isCompaction)))
      return 'the provider compacted the conversation';
    return asksForSummary(list) ? "the client's own compaction" : undefined;
  },
  mark: (body, messages, prompt) =>
    usesCache(body) ? anthropicCacheMarkers({ ...body, messages }, prompt).messages : messages,
  tools: anthropicTools,
  newReader: () => new AnthropicReader(),
};

function isCompaction({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('compact');
}

/** True if the client marks anything of its request for the cache: one that does not must not pay for writes. */
function usesCache({ tools, system, messages, cache_control: automatic }: JsonObject): boolean {
  const blocks = [tools, system, ...objectsIn(messages).map(({ content }) => content)];
  return isGiven(automatic) || blocks.some((list) => objectsIn(list).some(isMarked));
}

function isMarked({ cache_control: marker }: JsonObject): boolean {
  return isJsonObject(marker);
}
