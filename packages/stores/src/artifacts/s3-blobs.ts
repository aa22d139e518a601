import { orInstall } from '@bobbin/core/internal';
import type { AwsClient } from 'aws4fetch';
import { causeText, StoreError } from '../store-error.ts';
import type { Blobs } from './blobs.ts';

export interface S3Options {
  /** The address of any store that speaks S3, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The token of temporary credentials, as roles have. */
  readonly sessionToken?: string;
  readonly region?: string;
}

/** Keeps blobs in a bucket. */
export function s3Blobs({
  endpoint,
  bucket,
  region = 'us-east-1',
  ...credentials
}: S3Options): Blobs {
  let opened: Promise<AwsClient> | undefined;
  const open = async (): Promise<AwsClient> => {
    const { AwsClient: Client } = await import('aws4fetch').catch(orInstall('S3', 'aws4fetch'));
    return new Client({ ...credentials, region, service: 's3', retries: 3 });
  };
  const base = `${endpoint.replace(/\/$/, '')}/${bucket}`;
  const ask = async (path: string, init: RequestInit, absent?: number): Promise<Response> => {
    const client = await (opened ??= open());
    const response = await client.fetch(`${base}${path}`, init).catch((error: unknown) => {
      throw new StoreError('unavailable', `${base}: ${causeText(error)}`, error);
    });
    if (response.ok || response.status === absent) return response;
    const reason = (await response.text()).match(/<Code>([^<]*)</)?.[1] ?? response.statusText;
    throw new StoreError('unavailable', `${base}${path}: ${response.status} ${reason}`);
  };
  return {
    async read(name) {
      const response = await ask(pathOf(name), { method: 'GET' }, 404);
      if (response.status === 404) return undefined;
      return new Uint8Array(await response.arrayBuffer());
    },
    async write(name, bytes) {
      await ask(pathOf(name), { method: 'PUT', body: Buffer.from(bytes) });
    },
    async remove(name) {
      await ask(pathOf(name), { method: 'DELETE' }, 404);
    },
    async *list(prefix) {
      for (let next = ''; ;) {
        const from = next === '' ? '' : `&continuation-token=${encodeURIComponent(next)}`;
        const query = `?list-type=2&prefix=${encodeURIComponent(prefix)}${from}`;
        const xml = await (await ask(query, { method: 'GET' })).text();
        for (const [, key = ''] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) yield key;
        const token = xml.match(/<NextContinuationToken>([^<]*)</)?.[1];
        if (token === undefined) return;
        next = token.replaceAll('&amp;', '&');
      }
    },
  };
}

function pathOf(name: string): string {
  return `/${name.split('/').map(encodeURIComponent).join('/')}`;
}
