import type { ClientRequest, Fit } from './fit.ts';
import type { Fitter } from './fitter.ts';

/**
 * The request as it should go out, within a time. It never fails: if the gateway's own work does, or takes longer, the
 * request goes out as it came. What was begun goes on, and the next request of the conversation has its result.
 */
export async function fitInTime(fitter: Fitter, request: ClientRequest, ms: number): Promise<Fit> {
  const { bytes } = request;
  const work = fitter.fit(request).catch((error: unknown): Fit => failedOpen(bytes, error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Fit>((resolve) => {
    timer = setTimeout(
      () => resolve({ action: 'late', bytes, reason: `no result after ${ms} ms`, pending: work }),
      ms,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function failedOpen(bytes: Buffer, error: unknown): Fit {
  const reason = error instanceof Error ? error.message : String(error);
  return { action: 'failed-open', bytes, reason };
}
