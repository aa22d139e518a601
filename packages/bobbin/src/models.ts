export * from '@bobbin/models';
