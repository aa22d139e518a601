import { errorText } from '@bobbin/core/internal';
import type { ClientRequest, Fit } from './fit.ts';
import type { Fitter } from './fitter.ts';

/**
 * The request as it should go out, within a time. It never fails: if the gateway's own work does, or takes longer, the
 * request goes out as it came. What was begun goes on, and the next request of the conversation has its result.
 */
export async function fitInTime(fitter: Fitter, request: ClientRequest, ms: number): Promise<Fit> {
  const { bytes } = request;
  const late = new AbortController();
  const work = fitter
    .fit(request, late.signal)
    .catch((error: unknown): Fit => failedOpen(bytes, error));
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Fit>((resolve) => {
    const giveUp = (): void => {
      late.abort();
      resolve({ action: 'late', bytes, reason: `no result after ${ms} ms`, pending: work });
    };
    // A timer that fires after the event loop was busy must not win over work that is done by now.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function failedOpen(bytes: Buffer, error: unknown): Fit {
  const reason = errorText(error);
  return { action: 'failed-open', bytes, reason };
}
