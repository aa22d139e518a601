export * from '@bobbin/adapters/ai-sdk';
export { aiSdk, aiSdkCacheMarkers, aiSdkProblems, type AiSdkMessage } from '@bobbin/codecs';
