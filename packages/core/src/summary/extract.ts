import { isJsonObject, parseJson } from '../thread/json.ts';
import {
  callsOf,
  resultsOf,
  resultText,
  startsTurn,
  textOf,
  type CallPart,
} from '../thread/message.ts';
import { headOf, oneLine } from '../thread/text.ts';
import type { Node } from '../thread/thread.ts';
import {
  EMPTY_SUMMARY,
  type Fact,
  type FileRecord,
  type Summary,
  type ToolOutcome,
} from './summary.ts';

/** What an extract is made from. */
export interface ExtractRequest {
  readonly nodes: readonly Node[];
  readonly previous: Summary | null;
  readonly task: string | null;
  readonly round: number;
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
}

const STANDING =
  /\b(?:never|always|must(?: not)?|only|do not|don't|make sure|prefer|avoid|at most|at least|no more than)\b/i;
const FAILED = /\b(?:error|exception|failed|failure|traceback|cannot|not found|denied)\b/i;
const LONGEST_LINE = 200;
const shortLine = (text: string): string => oneLine(text, LONGEST_LINE);

/** A summary from the messages alone: no model, the same every time. */
export function extract(request: ExtractRequest): Summary {
  const { nodes, previous, task, round } = request;
  const before = previous ?? EMPTY_SUMMARY;
  const outcomes = toolOutcomes(nodes);
  const said = nodes.filter(
    ({ message }) => message.role === 'assistant' && textOf(message) !== '',
  );
  const lastSaid = said.at(-1);
  return {
    ...before,
    round,
    firstTurn: previous?.firstTurn ?? nodes[0]?.turn ?? 0,
    lastTurn: nodes.at(-1)?.turn ?? before.lastTurn,
    task: before.task ?? task,
    facts: merged(before.facts, standingFacts(nodes), ({ text }) => text),
    outcomes: [...before.outcomes, ...outcomes].slice(-40),
    files: mergedFiles(before.files, filesOf(nodes)),
    notes: [
      ...before.notes,
      ...nodes
        .filter(({ message }) => startsTurn(message))
        .map(({ message, turn }) => ({
          text: shortLine(textOf(message)),
          by: 'user' as const,
          turn,
        })),
      ...said.map(({ message, turn }) => ({
        text: shortLine(textOf(message)),
        by: 'assistant' as const,
        turn,
      })),
    ].slice(-60),
    currentTask: lastSaid === undefined ? before.currentTask : shortLine(textOf(lastSaid.message)),
    splitTurn: splitTurnOf(nodes, request.splitTurn),
  };
}

function standingFacts(nodes: readonly Node[]): readonly Fact[] {
  const facts: Fact[] = [];
  for (const { message, turn } of nodes) {
    if (!startsTurn(message)) continue;
    for (const sentence of textOf(message).split(/(?<=[.!?])\s+|\n+/)) {
      if (STANDING.test(sentence))
        facts.push({ kind: 'constraint', text: shortLine(sentence), by: 'user', turn });
    }
  }
  return facts;
}

function toolOutcomes(nodes: readonly Node[]): readonly ToolOutcome[] {
  const calls = new Map<string, CallPart>();
  const outcomes: ToolOutcome[] = [];
  for (const { message, turn } of nodes) {
    for (const call of callsOf(message)) calls.set(call.callId, call);
    for (const result of resultsOf(message)) {
      const call = calls.get(result.callId);
      const text = resultText(result);
      const failed =
        result.outcome === 'failure' ||
        (result.outcome === undefined && FAILED.test(text.slice(0, 400)));
      outcomes.push({
        tool: result.tool ?? call?.tool ?? 'tool',
        outcome: result.outcome ?? (failed ? 'failure' : 'success'),
        call: call === undefined ? '' : shortLine(call.args),
        turn,
        ...(result.keyFields === undefined ? {} : { keyFields: result.keyFields }),
        ...(failed ? { error: shortLine(text) } : {}),
      });
    }
  }
  return outcomes;
}

const WRITES = /write|create/i;
const EDITS = /edit|replace|patch|insert/i;

function filesOf(nodes: readonly Node[]): readonly FileRecord[] {
  const files: FileRecord[] = [];
  for (const { message } of nodes) {
    for (const call of callsOf(message)) {
      const args = parseJson(call.args);
      if (!isJsonObject(args)) continue;
      const path = args['path'] ?? args['file_path'] ?? args['filePath'];
      if (typeof path !== 'string') continue;
      const written = WRITES.test(call.tool);
      const edited = EDITS.test(call.tool);
      files.push({ path, read: !written && !edited, written, edited, deleted: false });
    }
  }
  return files;
}

function mergedFiles(
  before: readonly FileRecord[],
  now: readonly FileRecord[],
): readonly FileRecord[] {
  const files = new Map<string, FileRecord>();
  for (const file of [...before, ...now]) {
    const known = files.get(file.path);
    files.set(
      file.path,
      known === undefined
        ? file
        : {
            ...known,
            read: known.read || file.read,
            written: known.written || file.written,
            edited: known.edited || file.edited,
            deleted: known.deleted || file.deleted,
          },
    );
  }
  return [...files.values()];
}

function merged<T>(
  before: readonly T[],
  now: readonly T[],
  key: (item: T) => string,
): readonly T[] {
  const all = new Map<string, T>();
  for (const item of [...before, ...now]) all.set(key(item), item);
  return [...all.values()];
}

function splitTurnOf(
  nodes: readonly Node[],
  split: ExtractRequest['splitTurn'],
): Summary['splitTurn'] {
  if (split === undefined) return null;
  const { turn, maxTokens } = split;
  const prefix = nodes.filter((node) => node.turn === turn);
  const texts = prefix.map(({ message }) => textOf(message)).filter((text) => text !== '');
  return {
    turn,
    text: headOf(texts.map((text) => `- ${shortLine(text)}`).join('\n'), maxTokens * 3),
  };
}
