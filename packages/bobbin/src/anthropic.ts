export {
  anthropic,
  anthropicCacheMarkers,
  anthropicProblems,
  type AnthropicMessage,
  type AnthropicRequest,
} from '@bobbin/codecs';
