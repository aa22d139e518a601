export {
  langgraphBobbin,
  type LangchainOptions,
  type LanggraphBobbin,
  type MessageRunnable,
  type RunConfig,
} from '@bobbin/adapters/langgraph';
export * from '@bobbin/codecs/langchain';
