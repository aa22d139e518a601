/**
 * An object of a wire format. It takes what an SDK's own types describe, and literals with fields that are not listed
 * here, since the format has more than a codec reads.
 */
export type WireObject<Known> = Known | (Known & { [field: string]: unknown });
