import type { Message } from '@bobbin/core';
import { DEFAULT_CACHE_LIMITS } from '@bobbin/core/internal';
import { promptLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/** Cache points are positions of the prompt, ascending, no more than the provider takes. */
export function* cachePoints({ whole, context }: Scene): Iterable<Breach> {
  const { markers } = context.cacheLimits ?? DEFAULT_CACHE_LIMITS;
  const points = whole.cachePoints;
  const ascending = points.every((point, i) => i === 0 || point > (points[i - 1] ?? -1));
  const inside = points.every(
    (point) => Number.isInteger(point) && point >= 0 && point < whole.messages.length,
  );
  if (!ascending || !inside || points.length > markers)
    yield {
      law: 'cache points in range',
      detail: `[${points.join(', ')}] of ${whole.messages.length} messages, ${markers} markers`,
    };
}

/** No text is cut within a character. */
export function* wholeCharacters({ whole, thread }: Scene): Iterable<Breach> {
  const made = whole.messages.filter(({ source }) => source.kind !== 'kept');
  const broken = made.filter(({ message }) => !isWellFormed(message));
  if (broken.length === 0 || !thread.path().every(({ message }) => isWellFormed(message))) return;
  for (const shown of broken) yield { law: 'characters whole', detail: promptLine(shown) };
}

function isWellFormed(message: Message): boolean {
  for (const part of message.parts) {
    if (part.kind === 'text' || part.kind === 'reasoning') {
      if (!part.text.isWellFormed()) return false;
    } else if (part.kind === 'call') {
      if (!part.args.isWellFormed() || /\\ud[89a-f][0-9a-f]{2}/i.test(part.args)) return false;
    } else if (part.kind === 'result') {
      for (const inner of part.content)
        if (inner.kind === 'text' && !inner.text.isWellFormed()) return false;
    }
  }
  return true;
}
