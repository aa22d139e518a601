export * from '@bobbin/stores';
