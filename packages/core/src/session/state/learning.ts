import { besideMessages, type Budget } from '../../tokens/budget.ts';
import { calibrate, HIGHEST_FACTOR, upAtOnce, type Calibration } from '../../tokens/calibration.ts';

/** A count that is too low by less is not worth counting everything again. */
const LEAST_RISE = 0.03;
/** A count that is too high by less stays: what comes next may be dearer than what came. */
const LEAST_FALL = 0.05;
/** Half of the window stays for messages: what is beside them and larger has to be declared. */
const MOST_BESIDE_SHARE = 0.5;
/** If messages are less than this share of the rest of the request, a small error there is a large error of theirs. */
const LEAST_SHARE = 0.1;

/** What a session has learnt about its counter from the usage that providers report. */
export interface Learning {
  readonly calibration: Calibration;
  /** The size of the request without its messages, if the host did not declare it. */
  readonly besideTokens: number;
  /** What the messages of the last report were counted at, without the factor. */
  readonly lastUnits: number;
}

export interface Learnt {
  readonly learning: Learning;
  readonly budget: Budget;
  /** The factor has changed: messages have to be counted again. */
  readonly recalibrated: boolean;
}

/** True if a request of this size can have been the one that was sent: no counter is further off than that. */
function isPlausible(
  { windowTokens }: Budget,
  sentTokens: number,
  reportedTokens: number,
): boolean {
  return reportedTokens <= sentTokens * HIGHEST_FACTOR + windowTokens * MOST_BESIDE_SHARE;
}

/** Compares what a prompt's messages were counted at with what the provider reported for the request. */
export function learn(
  before: Learning,
  declared: Budget,
  sentTokens: number,
  reportedTokens: number,
): Learnt {
  if (!isPlausible(declared, sentTokens, reportedTokens))
    return { learning: before, budget: declared, recalibrated: false };
  const { learning, budget } = measureBeside(before, declared, sentTokens, reportedTokens);
  const beside = besideMessages(budget);
  if (sentTokens < beside * LEAST_SHARE) return { learning, budget, recalibrated: false };
  const { calibration } = learning;
  const learnt = calibrate(calibration, sentTokens, reportedTokens - beside);
  // What was seen decides, not the step towards it: small steps down would never be taken.
  const seenShare = (reportedTokens - beside) / sentTokens;
  const isOff = seenShare > 1 + LEAST_RISE || seenShare < 1 - LEAST_FALL;
  const recalibrated = isOff && learnt.factor !== calibration.factor;
  const next = recalibrated ? learnt : { ...calibration, samples: learnt.samples };
  return { learning: { ...learning, calibration: next }, budget, recalibrated };
}

/**
 * If the host declared nothing about its system prompt and tools, the part of the first report that exceeds the messages
 * is theirs. The same holds for each report about fewer messages than before; other reports can only lower the figure.
 */
function measureBeside(
  learning: Learning,
  budget: Budget,
  sentTokens: number,
  reportedTokens: number,
): Omit<Learnt, 'recalibrated'> {
  const { besideTokens, lastUnits, calibration } = learning;
  if (besideMessages(budget) !== besideTokens) return { learning, budget };
  const units = sentTokens / calibration.factor;
  const seen = Math.max(0, reportedTokens - sentTokens);
  const known = units < lastUnits ? seen : besideTokens;
  const most = budget.windowTokens * MOST_BESIDE_SHARE;
  const measured = Math.ceil(Math.min(known, upAtOnce(known, seen), most));
  return {
    learning: { ...learning, lastUnits: units, besideTokens: measured },
    budget: { ...budget, formattingTokens: measured },
  };
}
