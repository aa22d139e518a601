export * from '@bobbin/gateway';
