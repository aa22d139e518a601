// A process that works the queue until its input ends, and says when each job begins and ends:
// `node queue-host.ts URL [LEASE_MS]`.
import { writeSync } from 'node:fs';
import { compactionQueue } from '../src/queue/compaction-queue.ts';

const [, , url = '', lease = '2000'] = process.argv;
const say = (...words: readonly (string | number)[]): void => {
  writeSync(1, `${words.join(' ')}\n`);
};

const queue = await compactionQueue(url, { retryMs: 30_000 });
const stop = await queue.work(
  async ({ thread }) => {
    say('begin', Date.now(), thread);
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80));
    say('end', Date.now(), thread);
  },
  (error) => say('failed', String(error).slice(0, 120).replaceAll('\n', ' ')),
  { concurrency: 3, leaseMs: Number(lease), pollMs: 100 },
);
say('ready');
await new Promise((resolve) => process.stdin.once('end', resolve).resume());
await stop();
await queue.close();
say('stopped');
