import { lastOf, sorted } from '../check/list.ts';
import { callsOf, hasResults, startsTurn, textOf, type Message } from '../message/message.ts';
import {
  EMPTY_SUMMARY,
  type FileRecord,
  type LastRequest,
  type Note,
  type RepositoryEvent,
  type Summary,
  type ToolOutcome,
} from '../plan/summary.ts';
import { isDocument, seenShare } from '../summary/file-texts.ts';
import { redactSecrets, type Redact } from '../summary/redact.ts';
import { renderEssentials } from '../summary/render.ts';
import type { RenderSpace } from '../summary/summary-line.ts';
import type { Node } from '../thread/thread.ts';
import { chars4, type Counter } from '../tokens/counter.ts';
import type { FileAccess } from './anchors/files.ts';
import { needs } from './anchors/rank.ts';
import { scan, VOICE, type Voice } from './anchors/scan.ts';
import { AnchorStatistics, type Placed } from './anchors/statistics.ts';
import { SeenChanges } from './diffs/seen-changes.ts';
import { constraints, decisions } from './facts/statements.ts';
import { ExactLines } from './quotes/lines.ts';
import { Selection } from './quotes/select.ts';
import { lastRunsByKind, resultsShownElsewhere, runsIn, type Run } from './work/commands.ts';
import { fileRecords } from './work/file-records.ts';
import { nextStep } from './story/agent-words.ts';
import { replacementsIn } from './work/changes.ts';
import { lastRequest } from './story/last-request.ts';
import { mergeConflicts } from './work/conflicts.ts';
import { changeOf, overruledStatements, type Overruled } from './story/overruled.ts';
import { solvedProblems } from './work/problems.ts';
import { repositoryEvents } from './work/repository.ts';
import { splitTurnText } from './story/split-turn.ts';
import { withEditsSince } from './work/item-edits.ts';
import { isSpoken, Story } from './story/story.ts';
import { todoItems } from './work/todo.ts';
import { uncalledFunctions } from './work/uncalled.ts';
import { workByTurn } from './work/turn-work.ts';
import { taskOf } from './story/task.ts';
import { saidByUser } from './story/user-words.ts';

/** A message that stays in the prompt, and what the prompt shows of it. */
export interface Kept {
  readonly node: Node;
  readonly shown: Message;
}

/** Less of a task says little. */
const LEAST_TASK_CHARS = 400;

/** True if a message that stays gave the task, and the prompt shows enough of it. */
export function showsTask({ node: { message }, shown }: Kept, task: string | null): boolean {
  if (task === null || !startsTurn(message) || textOf(message) !== task) return false;
  return shown === message || textOf(shown).length >= Math.min(task.length, LEAST_TASK_CHARS);
}

/** What an extract is made from. */
export interface ExtractRequest {
  readonly nodes: readonly Node[];
  readonly previous: Summary | null;
  readonly task: string | null;
  readonly round: number;
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
  /** What stays in the prompt next to the summary: what it shows is not repeated. */
  readonly kept?: readonly Kept[];
  /** The most tokens of the summary's text, as `counter` counts them. */
  readonly maxTokens?: number;
  readonly counter?: Counter;
  /** How secrets are found: an edit is cut only after they are gone. */
  readonly redact?: Redact;
}

const DEFAULT_TOKENS = 4_000;
/** Shares of the text for what is taken before the rest competes. */
const SHARE = {
  userWords: 0.3,
  questions: 0.25,
  finalReport: 0.15,
  reports: 0.25,
  causes: 0.06,
  story: 0.8,
  edits: 0.15,
  files: 0.3,
  splitTurn: 0.25,
  filling: 0.15,
} as const;
/** In a long summary the agent's passages do not take more than this from the exact lines. */
const MOST_STORY_CHARS = 10_000;
/** … nor edits more than this. */
const MOST_EDITS_CHARS = 3_000;
const MOST_DECISIONS = 60;
const SHORT_CHARS = 10_000;
/** If more of a short summary is empty, there is not enough to say otherwise. */
const EMPTY_SHARE = 0.1;
const MANY_EDITS = 8;

/** A summary from the messages alone: no model, the same summary for the same messages. */
export function extract(request: ExtractRequest): Summary {
  return new Extract(request).summary();
}

class Extract {
  readonly #request: ExtractRequest;
  readonly #previous: Summary;
  readonly #statistics = new AnchorStatistics();
  readonly #seen: SeenChanges;
  /** The texts that the summary replaces, and those of kept messages that are not shown whole. */
  readonly #quotable = new Set<number>();
  /** All messages that are known, oldest first, and those of them that the prompt does not show whole. */
  readonly #all: readonly Node[];
  readonly #hidden: readonly Node[];
  readonly #carried: Note[] = [];
  readonly #space: RenderSpace;
  readonly #task: string | null;
  readonly #isShort: boolean;
  readonly #overruled: Overruled;
  readonly #runs: readonly Run[];

  constructor(request: ExtractRequest) {
    const { previous, nodes, maxTokens = DEFAULT_TOKENS, counter = chars4(), kept = [] } = request;
    this.#request = request;
    this.#previous = previous ?? EMPTY_SUMMARY;
    const shown = new Map(kept.map((one) => [one.node, one.shown]));
    this.#all = sorted([...nodes, ...shown.keys()], (a, b) => a.index - b.index);
    this.#hidden = this.#all.filter((node) => shown.get(node) !== node.message);
    this.#overruled = overruledStatements(this.#all);
    this.#runs = runsIn(this.#all);
    this.#seen = new SeenChanges(this.#statistics, this.#previous.seen ?? [], this.#redact);
    this.#task = taskOf(this.#previous.task ?? request.task, this.#all);
    this.#read();
    const isShown = kept.some((one) => showsTask(one, this.#task));
    const sample = nodes.length > 0 ? nodes : [...shown.keys()];
    this.#space = { chars: maxTokens * charsPerToken(sample, counter), taskIsShown: isShown };
    this.#isShort = this.#space.chars < SHORT_CHARS;
  }

  summary(): Summary {
    const bare = this.#withoutNotes();
    const rendered = renderEssentials(bare, this.#space);
    const selection = new Selection(needs(this.#statistics), this.#space.chars - rendered.length);
    this.#markShown(selection, rendered);
    const story = new Story(this.#statistics, selection, this.#overruled, this.#redact);
    const fileNotes = new Map(bare.files.map(({ path, note = '' }) => [path, note]));
    const lines = new ExactLines(this.#statistics, this.#seen, selection, fileNotes);
    for (const { shown } of this.#request.kept ?? [])
      for (const { args } of callsOf(shown))
        for (const { after } of replacementsIn(args)) lines.markShown(after);
    story.read(this.#unshown(), this.#all, causesIn(bare));
    for (const note of this.#carried) (isOfStory(note) ? story : lines).carry(note);
    this.#take(story, lines, bare);
    return this.#filled(selection, lines, () => ({
      ...bare,
      notes: [...story.chosen(), ...lines.chosen()],
    }));
  }

  /** The messages whose words are not shown elsewhere. */
  #unshown(): readonly Node[] {
    const split = this.#request.splitTurn?.turn;
    return this.#hidden.filter(
      (node) =>
        !this.#isTask(node) &&
        (node.turn !== split || startsTurn(node.message) || saidByUser(node.message).length > 0),
    );
  }

  /** Takes what comes first, each within its share of the space, and offers the rest. */
  #take(story: Story, lines: ExactLines, { work = [], repository = [] }: Summary): void {
    const { chars } = this.#space;
    const changedIn = work.filter(({ files }) => files.length > 0).map(({ turn }) => turn);
    story.takeOwnWords(chars * SHARE.userWords);
    story.takeFinalReport(chars * SHARE.finalReport);
    story.takeQuestions(chars * SHARE.questions);
    story.takeCauses(chars * SHARE.causes, new Set(changedIn));
    story.takeReports(chars * SHARE.reports, new Set(changedIn));
    story.offer(Math.min(chars * SHARE.story, MOST_STORY_CHARS));
    const isNew = this.#isUncommitted(repository);
    lines.takeEdits(Math.min(chars * SHARE.edits, MOST_EDITS_CHARS), isNew, this.#redact);
    lines.offerEdits(isNew, this.#redact);
    lines.offer(this.#mayQuote());
  }

  /** True for what may be shown and, if files were changed after the last commit, came after it too. */
  #isUncommitted(repository: readonly RepositoryEvent[]): (of: number) => boolean {
    const { placed, files } = this.#statistics;
    const commit = lastOf(repository, ({ kind }) => kind === 'commit')?.at ?? -1;
    const isLater = files.all().some(({ editedAt }) => editedAt > commit);
    return (of) => this.#quotable.has(of) && (!isLater || (placed[of] as Placed).index > commit);
  }

  /**
   * Spends the space. Joined lines cost less than was estimated: what is left over is spent again, in the end on edits and
   * on some lines of files that were read.
   */
  #filled(selection: Selection, lines: ExactLines, chosen: () => Summary): Summary {
    const { maxTokens = DEFAULT_TOKENS, counter = chars4() } = this.#request;
    selection.spend();
    const text = renderEssentials(chosen(), this.#space);
    const tokens = counter.text(text);
    selection.spaceChars = Math.floor(((maxTokens - tokens) * text.length) / Math.max(1, tokens));
    selection.spend();
    if (this.#isShort && selection.spaceChars > this.#space.chars * EMPTY_SHARE) {
      lines.takeEdits(selection.spaceChars, (of) => this.#quotable.has(of), this.#redact);
      lines.offer(this.#isOfFile);
      selection.spaceChars = Math.min(selection.spaceChars, this.#space.chars * SHARE.filling);
      selection.spend();
    }
    return chosen();
  }

  /** Reads everything, oldest first: what an earlier summary quotes, what is summarised, what stays. */
  #read(): void {
    for (const file of this.#previous.files) this.#statistics.files.add(accessOf(file));
    for (const note of this.#previous.notes) {
      const file = note.source === undefined ? undefined : this.#statistics.files.at(note.source);
      this.#statistics.addNote(note, voiceOf(note), file);
      this.#carried.push(note);
    }
    const hidden = new Set(this.#hidden);
    for (const node of this.#all)
      for (const of of this.#statistics.add(node)) {
        const { segment } = this.#statistics.placed[of] as Placed;
        this.#seen.read(of);
        if (hidden.has(node) && !isSpoken(segment.voice)) this.#quotable.add(of);
      }
  }

  /**
   * In a short text about work on files, lines of other results say less than what was said about them. Documents are
   * named by their headings, and of changed files the edits are shown.
   */
  #mayQuote(): (of: number) => boolean {
    const { placed, files } = this.#statistics;
    const shown = resultsShownElsewhere(this.#runs);
    const edits = files.all().reduce((sum, file) => sum + file.edits, 0);
    return (of) => {
      const { segment, file, index } = placed[of] as Placed;
      if (this.#isEdit(of)) return false;
      if (segment.voice === VOICE.tool && shown.has(index)) return false;
      const isOther =
        file === undefined
          ? segment.voice === VOICE.tool && edits >= MANY_EDITS
          : isDocument(file.path) || segment.voice === VOICE.tool;
      return this.#quotable.has(of) && !(this.#isShort && isOther);
    };
  }

  readonly #isOfFile = (of: number): boolean => {
    const { segment, file } = this.#statistics.placed[of] as Placed;
    return file !== undefined && segment.voice === VOICE.tool && this.#quotable.has(of);
  };

  /** Edits are shown as blocks, not by their lines. */
  #isEdit(of: number): boolean {
    const { segment, changes } = this.#statistics.placed[of] as Placed;
    return segment.voice === VOICE.args && changes;
  }

  #isTask({ message }: Node): boolean {
    return startsTurn(message) && this.#task !== null && textOf(message) === this.#task;
  }

  /** Marks what the prompt shows anyway: kept messages, and the parts of the summary that are not notes. */
  #markShown(selection: Selection, rendered: string): void {
    for (const { shown } of this.#request.kept ?? [])
      for (const { mentions } of scan(shown, this.#statistics.reader))
        for (const { anchor } of mentions) {
          const id = this.#statistics.idOf(anchor.key);
          if (id !== undefined) selection.show(id);
        }
    for (const id of this.#statistics.idsIn(rendered)) selection.show(id);
  }

  get #redact(): Redact {
    return this.#request.redact ?? redactSecrets;
  }

  #lastRequest(): LastRequest | undefined {
    const request = lastRequest(this.#all, {
      task: this.#task,
      before: this.#previous.request,
      redact: this.#redact,
    });
    if (request === undefined) return undefined;
    const { isShown: _, ...asked } = request;
    const isShown = (this.#request.kept ?? []).some(
      ({ node, shown }) => node.index === request.at && shown === node.message,
    );
    return isShown ? { ...asked, isShown } : asked;
  }

  /** Marks a run whose call and results the prompt shows whole. */
  #withShown(run: ToolOutcome): ToolOutcome {
    const { isShown: _, ...rest } = run;
    const after = (this.#request.kept ?? []).filter(({ node }) => node.index >= (run.at ?? 0));
    const end = after.findIndex(({ node }, i) => i > 0 && !hasResults(node.message));
    const own = after.slice(0, end < 0 ? after.length : end);
    const isShown =
      own.length > 1 &&
      own[0]?.node.index === run.at &&
      own.every(({ node, shown }) => shown === node.message);
    return isShown ? { ...rest, isShown } : rest;
  }

  #withoutNotes(): Summary {
    const { nodes, previous, round, splitTurn } = this.#request;
    const before = this.#previous;
    const [last, known] = [nodes.at(-1), this.#all.at(-1)];
    const changedAt = changeOf(this.#task, this.#overruled) ?? before.taskChangedAt;
    const files = fileRecords(this.#all, this.#statistics, before.files, {
      noteSpaceChars: this.#space.chars * SHARE.files,
      redact: this.#redact,
    });
    const items = withEditsSince(todoItems(this.#all, before.items), this.#all, this.#statistics);
    const runs = this.#runs;
    const asked = this.#lastRequest();
    return {
      ...before,
      round,
      firstTurn: previous?.firstTurn ?? nodes[0]?.turn ?? 0,
      lastTurn: last?.turn ?? before.lastTurn,
      ...(last === undefined ? {} : { until: last.index }),
      ...(known === undefined ? {} : { knownUntil: known.index }),
      ...(changedAt === undefined ? {} : { taskChangedAt: changedAt }),
      task: this.#task,
      ...(asked === undefined ? {} : { request: asked }),
      facts: mergedByText(before.facts, constraints(this.#hidden)),
      decisions: mergedByText(before.decisions, decisions(nodes)).slice(-MOST_DECISIONS),
      items,
      outcomes: lastRunsByKind(runs, before.outcomes).map((run) => this.#withShown(run)),
      repository: repositoryEvents(this.#all, before.repository ?? []),
      conflicts: mergeConflicts(this.#all, this.#statistics, before.conflicts ?? []),
      files,
      work: workByTurn(this.#all, runs, this.#statistics, before),
      problems: solvedProblems(this.#all, runs, this.#statistics, before.problems ?? []),
      uncalled: uncalledFunctions(this.#all, this.#statistics, asked?.at ?? -1),
      seen: this.#seen.all(this.#space.chars * seenShare(files)),
      notes: [],
      currentPlan: nextStep(this.#all, runs, this.#redact),
      currentTask: lastOf(items, ({ state }) => state === 'current')?.text ?? null,
      splitTurn:
        splitTurn === undefined
          ? null
          : splitTurnText(nodes, splitTurn, before.splitTurn, {
              mostChars: this.#space.chars * SHARE.splitTurn,
              redact: this.#redact,
            }),
    };
  }
}

/** What is shown with solved problems, by the message that says it. */
const causesIn = ({ problems = [] }: Summary): ReadonlyMap<number, string> =>
  new Map(problems.map(({ saidAt, said }) => [saidAt, said]));

/** What a person or the agent said. */
const isOfStory = ({ source, by }: Note): boolean =>
  source === undefined && (by === 'user' || by === 'assistant');

/** How many characters a token has in these messages. */
function charsPerToken(nodes: readonly Node[], counter: Counter): number {
  const sample = nodes
    .slice(-20)
    .map(({ message }) => [textOf(message), ...callsOf(message).map(({ args }) => args)])
    .map((texts) => texts.join('\n').slice(0, 4_000))
    .join('\n')
    .slice(0, 20_000);
  return sample.length < 100 ? 4 : sample.length / Math.max(1, counter.text(sample));
}

function accessOf(record: FileRecord): FileAccess {
  const { path, read, written, edited, deleted, at = -1, ranges = [] } = record;
  const edits = (written ? 1 : 0) + (edited ? 1 : 0) + (deleted ? 1 : 0);
  return {
    path,
    reads: read ? 1 : 0,
    edits,
    written,
    deleted,
    touchedAt: at,
    editedAt: edits > 0 ? at : -1,
    ranges,
  };
}

function voiceOf({ by, source }: Note): Voice {
  if (by === 'assistant') return source === undefined ? VOICE.text : VOICE.args;
  return VOICE[by];
}

function mergedByText<T extends { readonly text: string }>(
  before: readonly T[],
  now: readonly T[],
): readonly T[] {
  const all = new Map<string, T>();
  for (const item of [...before, ...now]) all.set(item.text, item);
  return [...all.values()];
}
