import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error: the package has no types
import S3rver from 's3rver';
import type { S3Options } from '@bobbin/stores';

interface Server {
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}
type ServerClass = new (options: {
  port: number;
  address: string;
  silent: boolean;
  directory: string;
  configureBuckets: readonly { name: string }[];
}) => Server;

/** An S3 server of a test file's own. */
export async function startS3(): Promise<{ options: S3Options; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'bobbin-s3-'));
  const server = new (S3rver as ServerClass)({
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory,
    configureBuckets: [{ name: 'artifacts' }],
  });
  const { port } = await server.run();
  return {
    options: {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'artifacts',
      accessKeyId: 'S3RVER',
      secretAccessKey: 'S3RVER',
    },
    async stop() {
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}
