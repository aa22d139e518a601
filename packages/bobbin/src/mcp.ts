export * from '@bobbin/adapters/mcp';
