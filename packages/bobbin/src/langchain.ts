export * from '@bobbin/adapters/langchain';
export * from '@bobbin/codecs/langchain';
