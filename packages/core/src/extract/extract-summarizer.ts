import type { Summarizer, SummaryRequest } from '../ports.ts';
import { callsOf, resultsOf, resultText, textOf } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { unitStarts } from '../thread/units.ts';
import { extract, type ExtractRequest } from './extract.ts';
import { redactSecrets, redactSummary, type Redact } from '../summary/redact.ts';
import { standingFacts } from './facts/supersede.ts';
import { SUMMARY_SCHEMA_VERSION, type Summary } from '../plan/summary.ts';

/** Summaries by the extract alone: no model, no failure, the same summary for the same messages. */
export function extracting(redact: Redact = redactSecrets): Summarizer {
  return {
    id: 'extract-v1',
    summarize: (request: SummaryRequest) => extractInParts(request, redact),
  };
}

/** The built-in summarizer. */
export const extractSummarizer: Summarizer = extracting();

/** The extract as it may be stored: what was taken back is gone, and so are secrets. */
export function cleanExtract(request: ExtractRequest, redact: Redact = redactSecrets): Summary {
  const made = extract({ ...request, redact });
  return redactSummary({ ...made, facts: standingFacts(made.facts).facts }, redact);
}

/** More messages than a compaction has, unless a whole history came at once. */
const PART_MESSAGES = 1_000;

/**
 * The extract of any number of messages. A history that came at once is read in parts with pauses between them: each
 * part updates the summary of those before it, as if the history had been compacted while it grew.
 */
async function extractInParts(request: SummaryRequest, redact: Redact): Promise<Summary> {
  const { splitTurn: _split, kept: _kept, ...part } = request;
  const { nodes } = request;
  const starts = unitStarts(nodes.map(({ message }) => message));
  let { previous } = request;
  let from = 0;
  for (const to of starts) {
    if (to - from < PART_MESSAGES) continue;
    previous = cleanExtract({ ...part, previous, nodes: nodes.slice(from, to) }, redact);
    from = to;
    await request.pause?.();
    request.signal?.throwIfAborted();
  }
  return cleanExtract({ ...request, previous, nodes: nodes.slice(from) }, redact);
}

const LISTS = [
  'facts',
  'decisions',
  'items',
  'artifacts',
  'outcomes',
  'files',
  'notes',
  'currentPlan',
] as const satisfies readonly (keyof Summary)[];

/** What a provider, a proxy or a model says instead of an answer. */
const NO_ANSWER =
  /^\W{0,3}(?:error\b|exception\b|traceback \(|\{\s{0,9}"(?:type"\s{0,3}:\s{0,3}"error"|error")|<!doctype html|<html|(?:http )?(?:4\d\d|5\d\d)\b|(?:api|internal server|rate limit|network|connection|request|overloaded|timeout)[ _-]?(?:error|exceeded|failed|reached)|too many requests|service unavailable|bad gateway|(?:i'?m|i am) (?:sorry|unable|not able)|sorry,|i (?:can(?:'|no)t|cannot|won't) (?:help|assist|comply|summari[sz]e|do that|provide))/i;
const LONGEST_ERROR = 1_000;
/** Below this, an account may be longer than what it replaces. */
const SMALL_CHARS = 2_000;

/** Why a summary must not be stored, or undefined if it may. */
export function refusal(summary: Summary, request?: SummaryRequest): string | undefined {
  const misshapen = misshape(summary);
  if (misshapen !== undefined)
    return `the summary is off its schema: ${misshapen}; return proseSummary(text, request), or a whole Summary`;
  const says = summary.prose?.trim() ?? '';
  const hasData = LISTS.some((list) => summary[list].length > 0);
  const inBrief = [summary.task, summary.currentTask, summary.splitTurn?.text].join('');
  if (says === '' && !hasData && inBrief.trim() === '') return 'the summary is blank';
  if (!hasData && says.length <= LONGEST_ERROR && NO_ANSWER.test(says))
    return `an error or a refusal, not a summary: ${says.slice(0, 80)}`;
  if (request === undefined) return undefined;
  const stoodFor = spanChars(request.nodes) + (request.previous?.prose?.length ?? 0);
  return says.length > Math.max(SMALL_CHARS, stoodFor)
    ? `the summary is inflated: ${says.length} characters for ${stoodFor}`
    : undefined;
}

/** An adapter in plain JavaScript may return anything. */
function misshape(summary: unknown): string | undefined {
  if (typeof summary !== 'object' || summary === null) return 'it is no object';
  const fields = summary as Readonly<Record<string, unknown>>;
  if (fields['schema'] !== SUMMARY_SCHEMA_VERSION) return `schema is not ${SUMMARY_SCHEMA_VERSION}`;
  const list = LISTS.find((name) => !Array.isArray(fields[name]));
  if (list !== undefined) return `${list} is no list`;
  for (const name of ['prose', 'currentTask', 'task'])
    if (fields[name] !== null && typeof fields[name] !== 'string') return `${name} is no text`;
  return undefined;
}

function spanChars(nodes: readonly Node[]): number {
  let chars = 0;
  for (const { message } of nodes) {
    chars += textOf(message).length;
    for (const { args } of callsOf(message)) chars += args.length;
    for (const result of resultsOf(message)) chars += resultText(result).length;
  }
  return chars;
}
