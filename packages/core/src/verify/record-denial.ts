import { lastIndex, lastOf } from '../check/list.ts';
import { isJsonObject, parseJson } from '../message/json.ts';
import { contentWords, namesIn } from '../message/text.ts';
import type { FileRecord, Item, Summary, ToolOutcome } from '../plan/summary.ts';

/** Why the record of files and outcomes contradicts a sentence, if it does. */
export function deniedBy(sentence: string, { files, outcomes }: Summary): string | undefined {
  const kept = files.find((file) => mentions(sentence, file.path) && isKept(sentence, file));
  if (kept !== undefined) return `${kept.path} was not deleted`;
  return outcomeDenies(sentence, { all: outcomes, last: lastOutcomes(outcomes) });
}

const DONE = /\b(?:completed?|done|finished)\b/i;
const OPEN = /\b(?:pending|in[ _]progress|not started|to-?do)\b/i;
const LEAST_ITEM_WORDS = 3;

const STATES = String.raw`completed?|done|finished|pending|in[ _]progress|not started|to-?do`;

/** What a line about an item has beside the item: its number, and its state in brackets or after a dash. */
const BESIDE_ITEM = new RegExp(
  String.raw`^\W*(?:(?:task|item|step)\W{0,4})?(?:#?\d+\b)?[\s*:.)]*|[([](?:${STATES})\b[^)\]]*[)\]]|\s[-–—]+\s*(?:${STATES})\W*$`,
  'gi',
);

/** A line that is an item of the task list, with the item's state, if it says another one. */
export function withItemState(sentence: string, { items }: Summary): string | undefined {
  const [isDone, isOpen] = [DONE.test(sentence), OPEN.test(sentence)];
  if (isDone === isOpen || NOT_DONE.test(sentence)) return undefined;
  const named = /(?:^|\W)(?:task|item|step)?\W{0,4}#?(\d{1,4})\b/i.exec(sentence)?.[1];
  const words = contentWords(sentence.replace(BESIDE_ITEM, ' '));
  const meant = items.filter((one) =>
    isItem(one, words, { named, isStated: STATED.test(sentence) }),
  );
  const [item] = meant;
  if (item === undefined || meant.length > 1 || (item.state === 'done') === isDone)
    return undefined;
  return isDone ? sentence.replace(DONE, 'not done') : sentence.replace(OPEN, 'done');
}

/** A state that is given in brackets, as in "Task #7 [completed]": other words may be about something else. */
const STATED = new RegExp(String.raw`[([](?:${STATES})\b`, 'i');

/** True if some words are those of an item, or begin like them beside its number and its state. */
function isItem(
  { text }: Item,
  words: readonly string[],
  { named, isStated }: { readonly named: string | undefined; readonly isStated: boolean },
): boolean {
  const [, subject = text, number] = /^(.*) \(#(\d+)\)$/.exec(text) ?? [];
  const own = contentWords(subject);
  if (own.length < LEAST_ITEM_WORDS || (number !== undefined && (named ?? number) !== number))
    return false;
  const isPart = number !== undefined && named !== undefined && isStated;
  const first = (all: readonly string[]): string => all.slice(0, LEAST_ITEM_WORDS).join(' ');
  return isPart ? first(own) === first(words) : own.join(' ') === words.join(' ');
}

const NOT_DONE = /(?:\b(?:not|never|no)|n't)\W+(?:\w+\W+)?(?:completed?|done|finished)\b/i;

const MADE = /\b(?:created?|wrote|written|added|implemented|exists?|contains?|in place)\b/i;
const GONE = /\b(?:delet|remov|no longer|dropped|gone|not exist)/i;

/** The file that a sentence says was made, if it was deleted later. */
export function deletedSince(sentence: string, { files }: Summary): string | undefined {
  if (!MADE.test(sentence) || GONE.test(sentence)) return undefined;
  return files.find(({ path, deleted }) => deleted && mentions(sentence, path))?.path;
}

/** True if a sentence says that a file was deleted which is there. */
function isKept(sentence: string, { path, deleted, written, edited }: FileRecord): boolean {
  return !deleted && (written || edited) && saysDeleted(sentence, path);
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
  /\b(?:pass(?:ed|es|ing)?|succeed(?:ed|s)?|success(?:ful(?:ly)?)?|works?|worked|green|fixed)\b/gi;
const FAILED = /\b(?:fail(?:ed|s|ing|ure)?|errors?|broken?|crash(?:ed|es)?|red)\b/gi;
/** What negates a verb, or makes it a condition, a wish or a memory, when it comes before it in its clause. */
const TURNED =
  /\b(?:not|no|none|never|neither|nor|hardly|without|until|till|before|once|when|whenever|if|unless|whether|should|must|would|will|could|may|might|so that|make sure|ensure|expected|supposed)\b|n't\b|\bto\s+(?:\w+ly\s+)?(?:be\s+)?$/i;
const QUALIFIED =
  /^\W*(?:\w+\W+){0,2}?(?:before|until|earlier|initially|at first|except|only if|but)\b/i;

/** True if a sentence says one of some verbs plainly. */
function says(sentence: string, verbs: RegExp): boolean {
  return [...sentence.matchAll(verbs)].some(({ 0: verb, index }) => {
    const clause =
      sentence
        .slice(0, index)
        .split(/[,;(—–]|:\s/)
        .at(-1) ?? '';
    return !TURNED.test(clause) && !QUALIFIED.test(sentence.slice(index + verb.length));
  });
}

/** How a sentence denies the record: that something worked whose last run failed, or failed what never did. */
function outcomeDenies(
  sentence: string,
  { all, last }: { readonly all: readonly ToolOutcome[]; readonly last: readonly ToolOutcome[] },
): string | undefined {
  const [worked, failed] = [says(sentence, WORKED), says(sentence, FAILED)];
  if (worked === failed) return undefined;
  for (const outcome of last) {
    const asked = askedFor(outcome);
    if (outcome.guessed === true || asked.length < 6 || !sentence.includes(asked)) continue;
    if (worked && stillFails(outcome)) return `${asked} failed`;
    const everFailed = all.some(
      (one) => one.outcome === 'failure' && askedFor(one).includes(asked),
    );
    if (failed && outcome.outcome === 'success' && !everFailed) return `${asked} succeeded`;
  }
  return worked ? kindDenies(sentence, last) : undefined;
}

const LEAST_NAME = 8;
const FAILING_LINE = /\b(?:FAIL(?:ED|URE)?|failed|failing)\b|✗|✕|✖/;

/** A name that a sentence says passes, if a line of the last run that names it says that it failed. */
export function failedSince(sentence: string, { outcomes }: Summary): string | undefined {
  if (!says(sentence, WORKED) || says(sentence, FAILED)) return undefined;
  return [...namesIn(sentence)].find((name) => {
    if (name.length < LEAST_NAME) return false;
    const whole = new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`);
    const at = lastIndex(outcomes, ({ call, error = '', result = '' }) =>
      [call, error, result].some((text) => whole.test(text)),
    );
    const { error = '', resolution, outdated } = outcomes[at] ?? {};
    const isFailing = error.split('\n').some((line) => whole.test(line) && FAILING_LINE.test(line));
    return isFailing && resolution === undefined && outdated !== true && !passedAfter(outcomes, at);
  });
}

/** True if tests passed after a run: they may include what failed in it. */
const passedAfter = (outcomes: readonly ToolOutcome[], at: number): boolean =>
  outcomes
    .slice(at + 1)
    .some((one) => one.outcome === 'success' && TEST_COMMANDS.test(askedFor(one)));

const TEST_COMMANDS =
  /\b(?:test|tests|pytest|jest|vitest|mocha|rspec|ctest|tox|phpunit|unittest)\b(?![./\\]\w)/i;

/** What people call a run by: its kind, as the command and as a sentence names it. */
const KINDS: readonly { readonly command: RegExp; readonly named: RegExp }[] = [
  {
    command: TEST_COMMANDS,
    named: /\b((?:[\w-]+\s+){0,3})(?:tests?(?: suites?)?|suite|specs?)\b/i,
  },
  {
    command: /\b(?:build|compile|tsc|webpack|make)\b/i,
    named: /\b((?:[\w-]+\s+){0,3})(?:build|compilation)\b/i,
  },
  {
    command: /\b(?:lint|eslint|oxlint|ruff|clippy|golangci-lint|flake8|biome)\b/i,
    named: /\b((?:[\w-]+\s+){0,3})(?:lint(?:er|ing)?)\b/i,
  },
];
/** Words before "tests" after which a part of them may be named. */
const ANY = /^(?:all|the|our|every|whole|full|entire|these|those|of|and|now|so|then|that|both)$/i;

const stillFails = ({ outcome, guessed, resolution }: ToolOutcome): boolean =>
  outcome === 'failure' && guessed !== true && resolution === undefined;

/** A sentence that names a kind of run speaks of the last one of that kind; of a part, if the command names it too. */
function kindDenies(sentence: string, last: readonly ToolOutcome[]): string | undefined {
  for (const { command, named } of KINDS) {
    const before = named.exec(sentence)?.[1];
    const run = lastOf(last, (one) => command.test(askedFor(one)));
    if (before === undefined || run === undefined || !stillFails(run)) continue;
    const asked = askedFor(run);
    const words = before.split(/\s+/).filter((word) => word !== '');
    const parts = words.slice(lastIndex(words, (word) => ANY.test(word)) + 1);
    if (parts.every((part) => asked.toLowerCase().includes(part.toLowerCase())))
      return `${asked} failed`;
  }
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

/** Only the last outcome of a call counts: what failed may have worked later. Oldest first. */
function lastOutcomes(outcomes: readonly ToolOutcome[]): readonly ToolOutcome[] {
  const last = new Map<string, ToolOutcome>();
  for (const outcome of outcomes) {
    const key = `${outcome.tool}\n${outcome.call}`;
    last.delete(key);
    last.set(key, outcome);
  }
  return [...last.values()];
}

/** True if a sentence names a file by its path or by the end of it. */
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
