export * from '@bobbin/testing';
