import type { CompactionEvent, Message, MessageId, Plan } from '@bobbin/core';
import {
  currentSummary,
  isJsonObject,
  parseJson,
  startsTurn,
  type Json,
  type MessageVector,
  type Node,
  type StoredThread,
  jsonText,
} from '@bobbin/core/internal';
import { isEvent, isPlan } from '../plan-text.ts';

export const SESSION_FORMAT = 1;

/**
 * A line of a session file. The file is append-only and begins with its `session` line. A reader that knows only
 * `summary` and `firstKeptId` of the last compaction can rebuild what is shown: the summary, that message and all after
 * it.
 */
export type SessionLine =
  | {
      readonly type: 'session';
      readonly format: typeof SESSION_FORMAT;
      readonly tenant: string;
      readonly thread: string;
    }
  | {
      readonly type: 'message';
      readonly id: MessageId;
      readonly parent: MessageId | null;
      readonly message: Message;
    }
  /** The head moved to a message that was there already. */
  | { readonly type: 'head'; readonly id: MessageId }
  | {
      readonly type: 'compaction';
      readonly version: number;
      readonly timestamp: number;
      readonly summary: string | null;
      readonly firstKeptId: MessageId | null;
      readonly tokensBefore: number;
      readonly plan: Plan;
      readonly events: readonly CompactionEvent[];
    }
  | { readonly type: 'events'; readonly events: readonly CompactionEvent[] }
  | {
      readonly type: 'vectors';
      readonly embedder: string;
      readonly vectors: readonly MessageVector[];
    };

export function messageLine({ id, parent, message }: Node): SessionLine {
  return { type: 'message', id, parent, message };
}

export function compactionLine(
  stored: StoredThread,
  plan: Plan,
  version: number,
  events: readonly CompactionEvent[],
): SessionLine {
  const firstKept = plan.head === null ? undefined : stored.path(plan.head, plan.start)[0];
  return {
    type: 'compaction',
    version,
    timestamp: plan.createdAt,
    summary: currentSummary(plan)?.text ?? null,
    firstKeptId: firstKept?.id ?? null,
    tokensBefore: plan.tokensBefore,
    plan,
    events,
  };
}

export function encodeLine(line: SessionLine): string {
  return `${jsonText(line)}\n`;
}

/** What a line says, or in words why it says nothing. */
export function decodeLine(text: string): SessionLine | string {
  const line = parseJson(text);
  if (!isJsonObject(line)) return 'this is no JSON object';
  const { type } = line;
  const fields = typeof type === 'string' ? FIELDS.get(type) : undefined;
  if (fields === undefined) return `there are no lines of type ${JSON.stringify(type)}`;
  for (const [name, is] of fields)
    if (!is(line[name])) return `${name} is not what a line of its type has`;
  return line as unknown as SessionLine;
}

type Check = (value: Json | undefined) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isList: Check = (value) => Array.isArray(value);
const isTextOrNull: Check = (value) => value === null || isText(value);
const isMessage: Check = (value) =>
  isJsonObject(value) && isText(value['role']) && isList(value['parts']);
const isEvents: Check = (value) => Array.isArray(value) && value.every(isEvent);

type Fields = readonly (readonly [name: string, is: Check])[];
const FIELDS: ReadonlyMap<string, Fields> = new Map<string, Fields>(
  Object.entries({
    session: { format: isNumber, tenant: isText, thread: isText },
    message: { id: isText, parent: isTextOrNull, message: isMessage },
    head: { id: isText },
    compaction: { version: isNumber, plan: isPlan, events: isEvents },
    events: { events: isEvents },
    vectors: { embedder: isText, vectors: isList },
  }).map(([type, fields]) => [type, Object.entries(fields)]),
);

/** Adds what a line says to a thread; returns in words what does not fit. */
export function replay(stored: StoredThread, line: SessionLine): string | undefined {
  switch (line.type) {
    case 'session':
      return 'a session begins only once';
    case 'message':
      return replayMessage(stored, line);
    case 'head': {
      const node = stored.get(line.id);
      if (node === undefined) return `there is no message ${line.id} before this line`;
      stored.append([node]);
      return undefined;
    }
    case 'compaction':
      return stored.commit(line.plan, line.version - 1, line.events)
        ? undefined
        : `version ${line.version} does not follow version ${stored.version}`;
    case 'events':
      stored.record(line.events);
      return undefined;
    case 'vectors':
      stored.keepVectors(line.embedder, line.vectors);
      return undefined;
  }
}

function replayMessage(
  stored: StoredThread,
  { id, parent, message }: Extract<SessionLine, { type: 'message' }>,
): string | undefined {
  const before = parent === null ? undefined : stored.get(parent);
  if (parent !== null && before === undefined)
    return `its parent ${parent} is not before this line`;
  const turn = (before?.turn ?? 0) + (startsTurn(message) ? 1 : 0);
  stored.append([{ id, parent, index: (before?.index ?? -1) + 1, turn, message }]);
  return undefined;
}

/** The plain fields of a session line, without reading the rest of the file. */
export function isSession(line: SessionLine | string): line is SessionLine & { type: 'session' } {
  return typeof line !== 'string' && line.type === 'session';
}
