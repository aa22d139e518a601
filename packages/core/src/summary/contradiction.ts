import { isJsonObject, parseJson } from '../thread/json.ts';
import type { FileRecord, Summary, ToolOutcome } from './summary.ts';

/** Something that a summary claims and the messages deny. */
export interface Contradiction {
  readonly kind:
    /** A file that was deleted is said to be there, or the other way round. */
    | 'file'
    /** What failed is said to have worked, or the other way round. */
    | 'outcome'
    /** What is done is said to be open, or the other way round. */
    | 'item'
    /** Somebody is said to have said what another one said. */
    | 'speaker'
    /** A tool's text gave an order, and the summary obeys it. */
    | 'planted'
    /** An exact string, or a saying, that is nowhere in the messages. */
    | 'invented';
  readonly claim: string;
  readonly because: string;
}

/** What a sentence says against the record of files and outcomes, if anything. */
export function deniedBy(sentence: string, truth: Summary): Contradiction | undefined {
  for (const file of truth.files) {
    const because = mentions(sentence, file.path) ? fileDenies(sentence, file) : undefined;
    if (because !== undefined) return { kind: 'file', claim: sentence, because };
  }
  for (const outcome of lastOutcomes(truth.outcomes)) {
    const because = outcomeDenies(sentence, outcome);
    if (because !== undefined) return { kind: 'outcome', claim: sentence, because };
  }
  return undefined;
}

const MADE = /\b(?:created?|wrote|written|added|implemented|exists?|contains?|in place)\b/i;
const GONE = /\b(?:delet|remov|no longer|dropped|gone|not exist)/i;

function fileDenies(
  sentence: string,
  { path, deleted, written, edited }: FileRecord,
): string | undefined {
  if (deleted && MADE.test(sentence) && !GONE.test(sentence)) return `${path} was deleted`;
  const touched = written || edited;
  if (!deleted && touched && saysDeleted(sentence, path)) return `${path} was not deleted`;
  return undefined;
}

/** "deleted src/a.ts", "src/a.ts was removed": the file itself, not something in it. */
function saysDeleted(sentence: string, path: string): boolean {
  const at = sentence.indexOf(path);
  const before = sentence.slice(Math.max(0, at - 30), at);
  const after = sentence.slice(at + path.length, at + path.length + 30);
  return (
    /\b(?:deleted|removed)\s+(?:the\s+)?(?:file\s+)?[`'"]?$/i.test(before) ||
    /^[`'"]?\s+(?:was|has been|is)\s+(?:deleted|removed)\b/i.test(after)
  );
}

const WORKED =
  /\b(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|success(?:ful(?:ly)?)?|works?|worked|green|fixed)\b/i;
const FAILED = /\b(?:fail(?:ed|s|ing|ure)?|errors?|broken?|crash(?:ed|es)?|red)\b/i;
const NEGATED = /\b(?:not|no|never|without|until|yet|before|should|must|to)\b|n't\b/i;

function outcomeDenies(sentence: string, outcome: ToolOutcome): string | undefined {
  const asked = askedFor(outcome);
  if (asked.length < 6 || !sentence.includes(asked) || NEGATED.test(sentence)) return undefined;
  const worked = WORKED.test(sentence);
  const failed = FAILED.test(sentence);
  if (worked && !failed && outcome.outcome === 'failure') return `${asked} failed`;
  if (failed && !worked && outcome.outcome === 'success') return `${asked} succeeded`;
  return undefined;
}

/** The command, path or query of a call: what people call it by. */
function askedFor({ call }: ToolOutcome): string {
  const args = parseJson(call);
  if (!isJsonObject(args)) return call;
  const named =
    args['command'] ?? args['cmd'] ?? args['path'] ?? args['file_path'] ?? args['query'];
  return typeof named === 'string' ? named : call;
}

/** Only the last outcome of a call counts: what failed may have worked later. */
function lastOutcomes(outcomes: readonly ToolOutcome[]): readonly ToolOutcome[] {
  const last = new Map<string, ToolOutcome>();
  for (const outcome of outcomes) last.set(`${outcome.tool}\n${outcome.call}`, outcome);
  return [...last.values()];
}

/** A model's outcomes that say the opposite of what happened. */
export function reversedOutcomes(
  claimed: readonly ToolOutcome[],
  truth: Summary,
): readonly Contradiction[] {
  const last = lastOutcomes(truth.outcomes);
  return claimed.flatMap((claim) => {
    const asked = askedFor(claim);
    const known = last.find((one) => one.tool === claim.tool && askedFor(one).includes(asked));
    if (known === undefined || asked === '' || known.outcome === claim.outcome) return [];
    const because = `${known.tool} ended in ${known.outcome}`;
    return [{ kind: 'outcome', claim: `${claim.tool}(${claim.call}): ${claim.outcome}`, because }];
  });
}

/** A model's files that are not as it says. */
export function deniedFiles(
  claimed: readonly FileRecord[],
  truth: Summary,
): readonly Contradiction[] {
  const known = new Map(truth.files.map((file) => [file.path, file]));
  return claimed.flatMap((claim) => {
    const file = known.get(claim.path);
    if (file === undefined || file.deleted === claim.deleted) return [];
    const because = file.deleted ? `${file.path} was deleted` : `${file.path} was not deleted`;
    return [
      { kind: 'file', claim: `${claim.path}: ${claim.deleted ? 'deleted' : 'there'}`, because },
    ];
  });
}

/** True where a sentence names a file by its path or by the end of it. */
function mentions(sentence: string, path: string): boolean {
  if (sentence.includes(path)) return true;
  const base = path.slice(path.lastIndexOf('/') + 1);
  if (!base.includes('.') || !sentence.includes(base)) return false;
  const named = new RegExp(`(?:^|[^\\w./~-])((?:[\\w.~-]*/)*)${escaped(base)}(?:$|[^\\w])`).exec(
    sentence,
  );
  return named !== null && `/${path}`.endsWith(`/${named[1] ?? ''}${base}`);
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
