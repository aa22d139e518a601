import type { GatewayNews, Observer } from '../observe/observer.ts';
import type { ApiEvent } from './route.ts';

const MOST_WAITING = 1_000;

/** What happens from now on in this process, until the caller goes away. A caller that reads too slowly misses some. */
export async function* liveEvents(
  observer: Observer,
  wants: (news: GatewayNews) => boolean,
  signal: AbortSignal,
): AsyncGenerator<ApiEvent> {
  const waiting: GatewayNews[] = [];
  let wake: (() => void) | undefined;
  const stop = observer.listen((news) => {
    if (!wants(news)) return;
    if (waiting.length < MOST_WAITING) waiting.push(news);
    wake?.();
  });
  signal.addEventListener('abort', () => wake?.(), { once: true });
  try {
    yield { event: 'ready', data: {} };
    while (!signal.aborted) {
      const news = waiting.shift();
      if (news === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else yield { event: news.event.kind, data: news };
    }
  } finally {
    stop();
  }
}
