import { createBobbin, memoryArtifacts, textMessage, type Message } from '@bobbin/core';
import { sha256 } from '@bobbin/core/internal';
import { assistant, call, cpuMs, result } from '@bobbin/testing';

const SIZES_MB = [1, 5, 10];
const FLAT_MS = 200;
/** Hashing and counting a text is work that grows with it; reading it for names must not. */
const MOST_HASHES = 4;

/** Ids that no text repeats: the worst that a reader of names can meet. */
function uniqueIds(megabytes: number, salt: string): string {
  const ids: string[] = [];
  for (let chars = 0, i = 0; chars < megabytes * 1_000_000; i++) {
    const id = sha256(`${salt}${i}`).slice(0, 24);
    ids.push(id);
    chars += id.length + 1;
  }
  return ids.join('\n');
}

/** The processor time of the prompt that follows a result, and what the process holds then. */
async function timed(text: string): Promise<{ readonly ms: number; readonly megabytes: number }> {
  const bobbin = createBobbin({ window: 200_000, artifacts: memoryArtifacts() });
  const list = call('list', {});
  const history: Message[] = [textMessage('user', 'List all ids.'), assistant(list)];
  history.push(result(list, text));
  const before = process.cpuUsage();
  const { fits } = await bobbin.fit(history);
  const { user, system } = process.cpuUsage(before);
  if (!fits) throw new Error('a result of unique ids does not fit');
  return { ms: (user + system) / 1_000, megabytes: process.memoryUsage().heapUsed / 1e6 };
}

await timed(uniqueIds(1, 'warm'));
await timed(uniqueIds(1, 'warm again'));
for (const size of SIZES_MB) {
  const text = uniqueIds(size, 'id');
  const hashMs = cpuMs(() => sha256(text));
  const { ms, megabytes } = await timed(text);
  console.log(
    `${String(size).padStart(3)} MB of unique ids: ${ms.toFixed(0)} ms, ${(ms / hashMs).toFixed(1)} times its hash; heap ${megabytes.toFixed(0)} MB`,
  );
  if (ms > FLAT_MS + MOST_HASHES * hashMs) process.exitCode = 1;
}
