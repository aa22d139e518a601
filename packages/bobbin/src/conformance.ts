export * from '@bobbin/stores/conformance';
