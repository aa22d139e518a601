export * from '@bobbin/adapters/openai-agents';
