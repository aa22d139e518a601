import { createHash } from 'node:crypto';

/** Four thousand characters that no store can make smaller, the same for one number. */
export function bulkText(number: number): string {
  return Array.from({ length: 63 }, (_, i) =>
    createHash('sha256').update(`${number}-${i}`).digest('hex'),
  ).join('');
}
