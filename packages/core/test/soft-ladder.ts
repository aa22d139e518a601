import type { Policy } from '@bobbin/core';
import { ladder, singlePrompt } from '@bobbin/core/internal';

const { economics } = ladder();

/** A policy under soft pressure: it moves results out, takes excerpts and summarises, where a rewrite pays. */
export const softLadder: Policy = {
  ...singlePrompt,
  targetShare: 0.5,
  firstSightShare: 0.25,
  ...(economics === undefined ? {} : { economics }),
};
