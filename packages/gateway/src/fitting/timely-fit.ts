import { redactSecrets } from '@bobbin/core';
import { errorText } from '@bobbin/core/internal';
import { deadline } from '../http/deadline.ts';
import type { ClientRequest, Fit } from './fit.ts';
import type { Fitter } from './fitter.ts';

/**
 * The request as it should go out, within a time. It never fails: if the gateway's own work does, or takes longer, the
 * request goes out as it came. What was begun goes on, and the next request of the conversation has its result. What was
 * not begun is not done: the next request has the same messages.
 */
export function fitInTime(fitter: Fitter, request: ClientRequest, ms: number): Promise<Fit> {
  const { bytes } = request;
  const late = new AbortController();
  const work = fitter
    .fit(request, late.signal)
    .catch((error: unknown): Fit => failedOpen(bytes, error));
  return inTime(work, ms, () => {
    late.abort();
    return { action: 'late', bytes, reason: `no result after ${ms} ms`, pending: work };
  });
}

/**
 * What a request that went out as it came turns out to be when its answer comes: undefined if its messages are durable.
 * If they cannot be stored, or not in time, it is as if the gateway had not worked on it.
 */
export function storedInTime(
  fit: Fit,
  msLeft: number,
  ms: number,
): Promise<Fit | undefined> | undefined {
  const { pendingWrite, bytes } = fit;
  if (pendingWrite === undefined || pendingWrite.isDurable) return undefined;
  const { durable } = pendingWrite;
  const failed = (error: unknown): Fit => failedOpen(bytes, error);
  return inTime<Fit | undefined>(
    durable.then(() => undefined, failed),
    msLeft,
    () => ({
      ...fit,
      action: 'late',
      reason: `not stored after ${ms} ms`,
      pending: durable.then(() => fit, failed),
    }),
  );
}

/** The result of some work that never fails, or another one after a time. */
export async function inTime<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  const { promise: timeout, resolve } = Promise.withResolvers<T>();
  const cancel = deadline(ms, () => resolve(late()));
  const result = await Promise.race([work, timeout]);
  cancel();
  return result;
}

function failedOpen(bytes: Buffer, error: unknown): Fit {
  // An error may quote what was said, and reasons are logged.
  const reason = redactSecrets(errorText(error).replace(QUOTED, '"…"'));
  return { action: 'failed-open', bytes, reason };
}

const QUOTED = /"(?:[^"\\]|\\.)*"/g;
