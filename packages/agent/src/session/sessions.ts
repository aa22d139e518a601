import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { type Message, type Plan, textOf } from '@bobbin/core';
import { currentSummary, isJsonObject, oneLine, parseJson } from '@bobbin/core/internal';
import { displayText } from '@bobbin/models';
import { ExpectedError } from '../expected-error.ts';
import type { Folders } from '../folders.ts';
import { projectName } from './session-id.ts';

/** A session in a list. */
export interface SessionEntry {
  readonly id: string;
  readonly changedAt: number;
  /** What the user said first. */
  readonly title: string;
  /** What its last summary says, in two sentences. */
  readonly about?: string;
}

const FIRST_BYTES = 65_536;
const LAST_BYTES = 1_048_576;

/** The sessions of a project, the one that changed last first. Only the beginning and the end of each file are read. */
export function listSessions(folders: Folders): readonly SessionEntry[] {
  return sessionFiles(folders).map(({ path, changedAt }) => ({
    id: basename(path, ENDING),
    changedAt,
    title: titleOf(path),
    ...aboutOf(path),
  }));
}

export function newestSession(folders: Folders): string | undefined {
  const [newest] = sessionFiles(folders);
  return newest === undefined ? undefined : basename(newest.path, ENDING);
}

function sessionFiles(folders: Folders): readonly { path: string; changedAt: number }[] {
  const folder = join(folders.data, 'sessions', projectName(folders.project));
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => join(folder, name))
    .map((path) => ({ path, changedAt: statSync(path).mtimeMs }))
    .toSorted((a, b) => b.changedAt - a.changedAt || (a.path < b.path ? 1 : -1));
}

/**
 * The session that a person means by an id, the beginning of one, or the path of its file; undefined if that is not
 * exactly one.
 */
export function findSession(folders: Folders, wanted: string): string | undefined {
  const matching = matchingSessions(folders, wanted);
  return matching.length === 1 ? matching[0] : undefined;
}

/** As `findSession`. @throws ExpectedError that says what helps, if that is not exactly one session. */
export function namedSession(folders: Folders, wanted: string): string {
  const [id, ...others] = matchingSessions(folders, wanted);
  if (id === undefined)
    throw new ExpectedError(
      isPath(wanted)
        ? `${wanted} is no session of this folder; bobbin import ${wanted} takes one over from elsewhere`
        : `there is no session ${wanted} of this folder`,
    );
  if (others.length > 0)
    throw new ExpectedError(
      `${wanted} may be ${[id, ...others].slice(0, MOST_NAMED).join(' or ')}`,
    );
  return id;
}

const MOST_NAMED = 4;

function matchingSessions(folders: Folders, wanted: string): readonly string[] {
  const files = sessionFiles(folders).map(({ path }) => path);
  const ids = files.map((path) => basename(path, ENDING));
  if (isPath(wanted)) {
    const at = files.indexOf(resolve(folders.project, wanted));
    return ids.slice(at, at < 0 ? 0 : at + 1);
  }
  return ids.includes(wanted) ? [wanted] : ids.filter((id) => id.startsWith(wanted));
}

const ENDING = '.jsonl';

function isPath(wanted: string): boolean {
  return wanted.endsWith(ENDING) || wanted.includes(sep);
}

function titleOf(path: string): string {
  for (const line of bytesOf(path, 0, FIRST_BYTES).split('\n')) {
    const entry = parseJson(line);
    if (!isJsonObject(entry) || entry['type'] !== 'message') continue;
    const message = entry['message'] as unknown as Message;
    if (message.role === 'user') return oneLine(textOf(message), LONGEST);
  }
  return '(nothing said yet)';
}

function aboutOf(path: string): Pick<SessionEntry, 'about'> {
  const end = bytesOf(path, Math.max(0, statSync(path).size - LAST_BYTES), LAST_BYTES);
  const at = end.lastIndexOf('\n{"type":"compaction"');
  const entry =
    at < 0
      ? undefined
      : parseJson(
          end
            .slice(at + 1)
            .split('\n', 1)
            .join(''),
        );
  if (!isJsonObject(entry)) return {};
  const summary = currentSummary(entry['plan'] as unknown as Plan)?.summary;
  return summary === undefined ? {} : { about: displayText(summary) };
}

function bytesOf(path: string, from: number, most: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, most, from));
  } finally {
    closeSync(file);
  }
}

const LONGEST = 80;
