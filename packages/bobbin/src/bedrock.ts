export {
  bedrock,
  BEDROCK_RULES,
  bedrockCacheMarkers,
  bedrockProblems,
  type BedrockMessage,
  type BedrockRequest,
} from '@bobbin/codecs';
