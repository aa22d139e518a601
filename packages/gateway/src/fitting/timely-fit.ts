import { errorText } from '@bobbin/core/internal';
import type { ClientRequest, Fit } from './fit.ts';
import type { Fitter, Lateness } from './fitter.ts';

/**
 * The request as it should go out, within a time. It never fails: if the gateway's own work does, or takes longer, the
 * request goes out as it came. What was begun goes on, and the next request of the conversation has its result.
 */
export function fitInTime(fitter: Fitter, request: ClientRequest, ms: number): Promise<Fit> {
  const { bytes } = request;
  const late: Lateness = { isLate: false };
  const work = fitter.fit(request, late).catch((error: unknown): Fit => failedOpen(bytes, error));
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Fit>((resolve) => {
    const giveUp = (): void => {
      late.isLate = true;
      resolve({ action: 'late', bytes, reason: `no result after ${ms} ms`, pending: work });
    };
    // A timer that fires after the event loop was busy must not win over work that is done by now.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
  });
  return Promise.race([work.finally(() => clearTimeout(timer)), timeout]);
}

function failedOpen(bytes: Buffer, error: unknown): Fit {
  const reason = errorText(error);
  return { action: 'failed-open', bytes, reason };
}
