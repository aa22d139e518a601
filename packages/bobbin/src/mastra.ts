export * from '@bobbin/adapters/mastra';
