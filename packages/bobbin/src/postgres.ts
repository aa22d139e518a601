export * from '@bobbin/stores/postgres';
