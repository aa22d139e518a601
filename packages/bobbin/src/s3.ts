export { s3Artifacts, s3Blobs, type S3Options } from '@bobbin/stores';
