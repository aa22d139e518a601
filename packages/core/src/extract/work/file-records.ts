import { sorted } from '../../check/list.ts';
import { callsOf, textOf, type CallPart } from '../../message/message.ts';
import type { FileRecord } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import { isDocument } from '../../summary/file-texts.ts';
import type { Node } from '../../thread/thread.ts';
import { keyOfPath } from '../anchors/anchor.ts';
import type { FileAccess } from '../anchors/files.ts';
import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics, Placed } from '../anchors/statistics.ts';
import { withoutAnnouncements } from '../story/agent-words.ts';
import { declaredBefore, FileChange, replacementsIn } from './changes.ts';

const MOST_FILES = 300;
const MOST_RANGES = 4;
const NOTE_CHARS = 600;
const LEAST_NOTE_CHARS = 140;
const WHY_CHARS = 200;

/** The files that were read or changed, oldest first, and for those that changed what changed and why. */
export function fileRecords(
  nodes: readonly Node[],
  statistics: AnchorStatistics,
  recordsBefore: readonly FileRecord[],
  { noteSpaceChars, redact }: { readonly noteSpaceChars: number; readonly redact: Redact },
): readonly FileRecord[] {
  const changes = changesByFile(nodes, statistics, redact);
  const noteChars = Math.max(
    LEAST_NOTE_CHARS,
    Math.min(NOTE_CHARS, noteSpaceChars / Math.max(1, changes.size)),
  );
  const before = new Map(recordsBefore.map((record) => [record.path, record]));
  return sorted(statistics.files.all(), (a, b) => a.touchedAt - b.touchedAt)
    .slice(-MOST_FILES)
    .map((file) => {
      const most = isDocument(file.path) ? NOTE_CHARS : noteChars;
      const change = changes.get(file);
      const known = before.get(file.path);
      return recordOf(file, {
        note: change?.text(most) || known?.note,
        added: change === undefined ? known?.added : change.newestLine,
      });
    });
}

function recordOf(
  file: FileAccess,
  { note, added }: { readonly note: string | undefined; readonly added: string | undefined },
): FileRecord {
  const { path, reads, edits, written, deleted, touchedAt, editedAt, ranges } = file;
  const at = editedAt < 0 ? touchedAt : editedAt;
  return {
    path,
    read: reads > 0,
    written,
    edited: edits > (written ? 1 : 0) && !(deleted && edits === 1),
    deleted,
    ...(ranges.length === 0 ? {} : { ranges: ranges.slice(-MOST_RANGES) }),
    ...(note === undefined || deleted ? {} : { note }),
    ...(added === undefined || deleted || note !== undefined ? {} : { added }),
    ...(at < 0 ? {} : { at }),
  };
}

function changesByFile(
  nodes: readonly Node[],
  statistics: AnchorStatistics,
  redact: Redact,
): ReadonlyMap<FileAccess, FileChange> {
  const changes = new Map<FileAccess, FileChange>();
  const surroundings = new Surroundings(statistics);
  /** A reason that is given for several files is shown with the first. */
  const reasons = new Map<string, FileAccess>();
  const note = (file: FileAccess, call: CallPart, why: string): void => {
    const change = changes.get(file) ?? new FileChange(redact);
    changes.set(file, change);
    for (const one of replacementsIn(call.args)) {
      if (one.path !== undefined && keyOfPath(one.path) !== keyOfPath(file.path)) continue;
      change.note(one, surroundings.of(file, one.before));
    }
    if (why === '' || (reasons.get(why) ?? file) !== file) return;
    reasons.set(why, file);
    change.explain(why);
  };
  for (const { message, index } of nodes) {
    surroundings.readUpTo(index);
    const calls = callsOf(message);
    if (calls.length === 0) continue;
    const why = reasonIn(textOf(message));
    for (const call of calls)
      for (const file of statistics.changedBy(call.callId, index)) note(file, call, why);
  }
  return changes;
}

const INTENT =
  /^\W*(?:(?:ok(?:ay)?|now|first|next|then|good|great|perfect|also|and|so)\b[,.!]?\s+)*(?:let me|let['’]s|i['’]ll|i will|i need to|i should|we need to|now i)\s+(?:now |also |then |first )?/i;

/** Says only that something went well, or in which order the agent goes on. */
const CHEERS =
  /^(?:(?:good|great|perfect|excellent|nice)\b[^.!`]{0,40}[.!]\s*)+|^(?:starting|continuing) with [^`]*$/i;

const LIST_MARK = /^\s*(?:\d{1,3}[.)]|[-*•])\s+/;

/** An intent says something if it names something. */
const NAMES = /`|[a-z][A-Z]|\w_\w|\w\.\w/;

/** Why an agent makes a change, in its words before it: a reason if it gives one, otherwise what it is about to do. */
function reasonIn(text: string): string {
  const line = (text.trim().split('\n').at(-1) ?? '').replace(LIST_MARK, '').replaceAll('**', '');
  const why =
    withoutAnnouncements(line).replace(CHEERS, '') ||
    (NAMES.test(line) ? line.replace(INTENT, '') : '');
  const bare = why.replace(/[:：]\W{0,3}$/, '').trim();
  return bare.length < 12 || bare.length > WHY_CHARS ? '' : bare;
}

/** So many of the texts that show a file are kept, the newest. */
const MOST_TEXTS = 3;
const LEAST_LINE_CHARS = 8;

/** What was read of files, to find in which function an edit was made. */
class Surroundings {
  readonly #statistics: AnchorStatistics;
  readonly #texts = new Map<FileAccess, string[]>();
  #next = 0;

  constructor(statistics: AnchorStatistics) {
    this.#statistics = statistics;
  }

  /** Takes the results before a message. */
  readUpTo(index: number): void {
    const { placed } = this.#statistics;
    for (; this.#next < placed.length; this.#next++) {
      const { segment, file, index: at } = placed[this.#next] as Placed;
      if (at >= index) return;
      if (file === undefined || segment.voice !== VOICE.tool) continue;
      const texts = this.#texts.get(file) ?? [];
      this.#texts.set(file, [segment.text, ...texts].slice(0, MOST_TEXTS));
    }
  }

  /** The name of what some lines of a file were part of. */
  of(file: FileAccess, lines: string): string | undefined {
    const line = lines
      .split('\n')
      .map((one) => one.trim())
      .find((one) => one.length >= LEAST_LINE_CHARS);
    if (line === undefined) return undefined;
    for (const text of this.#texts.get(file) ?? []) {
      const at = text.indexOf(line);
      if (at >= 0) return declaredBefore(text, at + line.length);
    }
    return undefined;
  }
}
