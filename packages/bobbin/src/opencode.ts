export * from '@bobbin/adapters/opencode';
