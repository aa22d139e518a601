import type { JsonObject } from '../message/json.ts';
import type { ArtifactId, Outcome } from '../message/message.ts';

/** Raised when a field changes its meaning: it is part of every summary cache key. */
export const SUMMARY_SCHEMA_VERSION = 2;

/** Who said something. A summary never turns a tool's text into an instruction: it says who said what. */
export type Speaker = 'system' | 'user' | 'assistant' | 'tool';
export type Priority = 'high' | 'medium' | 'low';

/** Something that stays true: a constraint, a preference, a value. */
export interface Fact {
  readonly kind: 'constraint' | 'preference' | 'value';
  readonly text: string;
  readonly by: Speaker;
  readonly turn: number;
}

export interface Decision {
  readonly text: string;
  readonly rationale?: string;
  readonly turn: number;
  readonly time?: number;
}

export interface Item {
  readonly text: string;
  readonly state: 'open' | 'current' | 'done';
  readonly priority: Priority;
  readonly context?: string;
  /** The index of the message that last reported that it was begun. */
  readonly at?: number;
  /** The index of the message that last reported its state. */
  readonly statedAt?: number;
  /** The indices of the messages that put names of an open item into files after its state was reported. */
  readonly editedAt?: readonly number[];
}

export interface ArtifactReference {
  readonly artifactId: ArtifactId;
  readonly description: string;
  /** When an agent should read it back. */
  readonly hint: string;
}

export interface ToolOutcome {
  readonly tool: string;
  readonly outcome: Outcome;
  /** Inferred from the result: neither the tool nor an exit code said so. A guess contradicts no statement. */
  readonly guessed?: boolean;
  /** What was asked of the tool, short enough to read. */
  readonly call: string;
  readonly keyFields?: JsonObject;
  /** The lines that say what failed. */
  readonly error?: string;
  /** The lines that say how much passed or failed, or the last line that came back. */
  readonly result?: string;
  /** True if another state of the repository was checked out or merged since. */
  readonly outdated?: boolean;
  /** The call and its results stay in the prompt, whole. */
  readonly isShown?: true;
  /** What the error led to, if it ended. */
  readonly resolution?: string;
  readonly turn: number;
  /** The index of the call's message. */
  readonly at?: number;
  readonly worth?: number;
}

/** Lines of a file, from the first to the last, counted from 1. */
export type LineRange = readonly [from: number, to: number];

export interface FileRecord {
  readonly path: string;
  readonly read: boolean;
  readonly written: boolean;
  readonly edited: boolean;
  readonly deleted: boolean;
  /** The lines that were read, if that is known. */
  readonly ranges?: readonly LineRange[];
  readonly note?: string;
  /** A line that the newest edit added: it is shown if nothing else says what changed. */
  readonly added?: string;
  /** The index of the message that touched it last. */
  readonly at?: number;
  readonly worth?: number;
}

/** A change to a file that was looked at in a diff: not made in this conversation. */
export interface SeenChange {
  readonly path: string;
  readonly does: 'added' | 'deleted' | 'renamed' | 'modified';
  /** The path before, if the file was renamed. */
  readonly from?: string;
  readonly plus: number;
  readonly minus: number;
  /** What changed in it. */
  readonly note?: string;
  /** The index of the message that shows it. */
  readonly at: number;
}

/** Something that happened to the repository. */
export interface RepositoryEvent {
  /** 'in sync': a branch had no commits that were not pushed. */
  readonly kind: 'commit' | 'branch' | 'push' | 'in sync' | 'pull request';
  readonly text: string;
  /** The index of the message that reports it. */
  readonly at: number;
  /** What a commit holds, files or folders, if the commands before it say so. */
  readonly paths?: readonly string[];
}

/** A file in which a merge, a rebase or the like left conflicts that are not committed. */
export interface Conflict {
  /** The path as the repository names it. */
  readonly path: string;
  /** The index of the message that reports it. */
  readonly at: number;
  /** The index of the message that changed the file last since then; absent if none did. */
  readonly editedAt?: number;
}

/** The last run of a kind of check in a turn. */
export interface TurnCheck {
  readonly kind: string;
  readonly hasPassed: boolean;
  readonly at: number;
}

/** What the agent did in a turn. */
export interface TurnWork {
  readonly turn: number;
  /** The index of the message that begins the turn, and of the last one of it. */
  readonly at: number;
  readonly until: number;
  /** The names of the files that it changed. */
  readonly files: readonly string[];
  /** The index of the last message that changed a file; absent if none did. */
  readonly changedAt?: number;
  /** The last run of each kind of check, with the message that ran it. */
  readonly checks: readonly TurnCheck[];
}

/** A command that failed and works since. */
export interface Problem {
  /** The index of the message that ran it. */
  readonly at: number;
  readonly call: string;
  /** The first line that says what failed: text of a tool. */
  readonly error: string;
  /** What the agent said of the cause, and where. */
  readonly said: string;
  readonly saidAt: number;
  /** The names of the files that were changed before the next run. */
  readonly files: readonly string[];
  /** The index of the message whose run passed. */
  readonly solvedAt: number;
  /** The call of that run, if it is another one. */
  readonly solvedBy?: string;
}

/** What a person asked for last. */
export interface LastRequest {
  readonly text: string;
  /** The index of the message that asks. */
  readonly at: number;
  /** What the agent had asked, if the request is a short answer: the rest of a sentence about the request. */
  readonly answers?: string;
  /** The index of the message in which the agent reports on it; absent while it works. */
  readonly reportedAt?: number;
  /** The message that asks stays in the prompt, whole. */
  readonly isShown?: true;
}

/** A line quoted from the conversation, with who said it, because of the exact strings in it. */
export interface Note {
  readonly text: string;
  readonly by: Speaker;
  /** Where it comes from: a file's path, or a call as it reads in one line. */
  readonly source?: string;
  readonly turn: number;
  /** The index of the message that contains it. */
  readonly at?: number;
  /** The index of a later message in which the user took it back or changed it. */
  readonly overruledAt?: number;
  /** How much of what is likely to be needed again it shows, per character: what is worth least is left out first. */
  readonly worth?: number;
}

/** What a split turn's summarised beginning held. */
export interface SplitTurn {
  readonly turn: number;
  readonly text: string;
}

/** A summary as data. Each compaction updates the fields of the last summary; it never summarises a summary's text. */
export interface Summary {
  readonly schema: typeof SUMMARY_SCHEMA_VERSION;
  /**
   * The number of the compaction that made it, from 1. Every summary includes the content of the summaries before it.
   */
  readonly round: number;
  readonly firstTurn: number;
  readonly lastTurn: number;
  /** The index of the last message that it replaces. */
  readonly until?: number;
  /** The index of the last message that was known when this was made: the state is that after it. */
  readonly knownUntil?: number;
  /** The index of a message that changes what the task says. */
  readonly taskChangedAt?: number;
  /** The first message in which the user asks for something, verbatim. */
  readonly task: string | null;
  readonly request?: LastRequest;
  readonly facts: readonly Fact[];
  readonly decisions: readonly Decision[];
  readonly items: readonly Item[];
  readonly artifacts: readonly ArtifactReference[];
  readonly outcomes: readonly ToolOutcome[];
  readonly files: readonly FileRecord[];
  /** Commits, branches, pushes and pull requests, oldest first. */
  readonly repository?: readonly RepositoryEvent[];
  readonly conflicts?: readonly Conflict[];
  /** What was done in each turn, oldest first. */
  readonly work?: readonly TurnWork[];
  /** Functions that were added for the last request and that nothing calls yet. */
  readonly uncalled?: readonly string[];
  /** What failed on the way and works since, oldest first. */
  readonly problems?: readonly Problem[];
  /** Changes that the agent read in a diff but did not make, oldest first. */
  readonly seen?: readonly SeenChange[];
  readonly notes: readonly Note[];
  readonly currentTask: string | null;
  readonly currentPlan: readonly string[];
  /** The text that a model wrote about the messages; null if no model wrote one. */
  readonly prose: string | null;
  readonly splitTurn: SplitTurn | null;
}

export const EMPTY_SUMMARY: Summary = {
  schema: SUMMARY_SCHEMA_VERSION,
  round: 1,
  firstTurn: 0,
  lastTurn: 0,
  task: null,
  facts: [],
  decisions: [],
  items: [],
  artifacts: [],
  outcomes: [],
  files: [],
  notes: [],
  currentTask: null,
  currentPlan: [],
  prose: null,
  splitTurn: null,
};
