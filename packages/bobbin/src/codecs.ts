export * from '@bobbin/codecs';
