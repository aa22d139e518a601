import { keepArtifacts, type ArtifactOptions, type KeptArtifacts } from './artifacts.ts';
import { s3Blobs, type S3Options } from './s3-blobs.ts';

export function s3Artifacts(bucket: S3Options, options?: ArtifactOptions): KeptArtifacts {
  return keepArtifacts(s3Blobs(bucket), options);
}
