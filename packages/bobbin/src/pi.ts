export * from '@bobbin/adapters/pi';
