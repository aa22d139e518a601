import { createHash } from 'node:crypto';
import type { Session } from '@bobbin/core';

/** The same text for the same prompt, in any process. */
export async function promptHash(
  handle: Session,
  version: number,
  length: number,
): Promise<string> {
  const prompt = await handle.promptAt(version, length);
  return createHash('sha256').update(JSON.stringify(prompt.messages)).digest('hex').slice(0, 16);
}
