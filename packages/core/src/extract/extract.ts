import { callsOf, startsTurn, textOf, type Message } from '../message/message.ts';
import { oneLine } from '../message/text.ts';
import type { Node } from '../thread/thread.ts';
import { chars4, type Counter } from '../tokens/counter.ts';
import type { FileAccess } from './anchors/files.ts';
import { needs } from './anchors/rank.ts';
import { FAILED, NoteChooser, type ChosenNotes } from './quotes/notes.ts';
import { outcomes } from './facts/outcomes.ts';
import { callLine, shortened } from './quotes/quote.ts';
import { renderEssentials, type RenderRoom } from '../summary/render.ts';
import { constraints, decisions, firstSentence } from './facts/statements.ts';
import { scan, VOICE, type Voice } from './anchors/scan.ts';
import { Selection } from './quotes/select.ts';
import {
  EMPTY_SUMMARY,
  type FileRecord,
  type Note,
  type Speaker,
  type Summary,
  type ToolOutcome,
} from '../plan/summary.ts';
import { AnchorStatistics, type Placed } from './anchors/statistics.ts';
import { stateOf } from './facts/state.ts';
import { hostLine, isRequest, taskOf } from './facts/task.ts';
import { todoItems } from './facts/todo.ts';

/** A message that stays in the prompt, and what the prompt shows of it. */
export interface Kept {
  readonly node: Node;
  readonly shown: Message;
}

/** What an extract is made from. */
export interface ExtractRequest {
  readonly nodes: readonly Node[];
  readonly previous: Summary | null;
  readonly task: string | null;
  readonly round: number;
  readonly splitTurn?: { readonly turn: number; readonly maxTokens: number };
  /** What stays in the prompt beside the summary: what it shows need not be told again. */
  readonly kept?: readonly Kept[];
  /** The room for the summary's text, as `counter` counts it. */
  readonly maxTokens?: number;
  readonly counter?: Counter;
}

const DEFAULT_TOKENS = 4_000;
const CALL_CHARS = 140;
/** Shares of the room that are given away before the notes compete for the rest. */
const SHARE = { asked: 0.1, steps: 0.03, changedFiles: 0.04 } as const;
/** What is told whatever it is worth. */
const ALWAYS = 1;
/** Notes that are joined cost less than they seemed to: what is left over is spent again. */
const ROUNDS = 3;
const MOST_FILES = 300;
const MOST_DECISIONS = 60;

/** A summary from the messages alone: no model, the same every time, as much of what will be needed as fits. */
export function extract(request: ExtractRequest): Summary {
  return new Extract(request).summary();
}

class Extract {
  readonly #request: ExtractRequest;
  readonly #previous: Summary;
  readonly #survey = new AnchorStatistics();
  readonly #carried = new Map<number, Note>();
  /** The texts that the summary stands for, and those of kept messages that are not shown whole. */
  readonly #quotable = new Set<number>();
  readonly #room: RenderRoom;
  readonly #task: string | null;

  constructor(request: ExtractRequest) {
    const { previous, maxTokens = DEFAULT_TOKENS, counter = chars4(), kept = [] } = request;
    this.#request = request;
    this.#previous = previous ?? EMPTY_SUMMARY;
    const known = [...request.nodes, ...kept.map(({ node }) => node)];
    const task = taskOf(this.#previous.task ?? request.task, known);
    this.#task = task;
    this.#look();
    const chars =
      maxTokens *
      charsPerToken(
        request.nodes.length > 0 ? request.nodes : kept.map(({ node }) => node),
        counter,
      );
    const taskStands = kept.some(
      ({ shown, node }) => shown === node.message && startsTurn(shown) && textOf(shown) === task,
    );
    this.#room = { chars, taskStands };
  }

  summary(): Summary {
    const bare = this.#withoutNotes();
    const need = needs(this.#survey);
    const told = renderEssentials(bare, this.#room);
    const selection = new Selection(need, this.#room.chars - told.length);
    this.#showWhatStands(selection, told);
    const quotable = this.#quotable;
    const chooser = new NoteChooser(
      this.#survey,
      selection,
      (of) => quotable.has(of),
      this.#carried,
    );
    chooser.takeChangedFiles(this.#room.chars * SHARE.changedFiles);
    chooser.offer();
    return this.#filledUp(bare, selection, chooser);
  }

  /** Spends the room, looks how much of it is used, and spends again. */
  #filledUp(bare: Summary, selection: Selection, chooser: NoteChooser): Summary {
    const { maxTokens = DEFAULT_TOKENS, counter = chars4() } = this.#request;
    let summary = bare;
    for (let round = 0; round < ROUNDS; round++) {
      selection.spend();
      summary = this.#with(bare, chooser.chosen());
      if (selection.exhausted) break;
      const text = renderEssentials(summary, this.#room);
      const tokens = counter.text(text);
      selection.roomChars = Math.floor(((maxTokens - tokens) * text.length) / Math.max(1, tokens));
      if (selection.roomChars < 60) break;
    }
    return summary;
  }

  /** Reads everything, oldest first: what an earlier summary quotes, what is to be summarised, what stays. */
  #look(): void {
    const { nodes, kept = [] } = this.#request;
    for (const file of this.#previous.files) this.#survey.files.add(trailOf(file));
    for (const note of this.#previous.notes) {
      const file = note.source === undefined ? undefined : this.#survey.files.at(note.source);
      const of = this.#survey.addNote(note, voiceOf(note), file);
      this.#carried.set(of, note);
      this.#quotable.add(of);
    }
    const shown = new Map(kept.map((one) => [one.node, one.shown]));
    const all = [...nodes, ...shown.keys()].toSorted((a, b) => a.index - b.index);
    for (const node of all) {
      const places = this.#survey.add(node);
      if (shown.get(node) !== node.message && !this.#isHost(node))
        for (const of of places) this.#quotable.add(of);
    }
  }

  /** True for a host's message that stands where the task should: it is told in one line. */
  #isHost({ message }: Node): boolean {
    const { task } = this.#request;
    return this.#task !== task && startsTurn(message) && textOf(message) === task;
  }

  /** Marks what the prompt shows anyway: kept messages, and the parts of the summary that are no notes. */
  #showWhatStands(selection: Selection, told: string): void {
    const { kept = [] } = this.#request;
    const show = (key: string): void => {
      const id = this.#survey.idOf(key);
      if (id !== undefined) selection.show(id);
    };
    for (const { shown } of kept)
      for (const { mentions } of scan(shown, this.#survey.reader))
        for (const { anchor } of mentions) show(anchor.key);
    this.#survey.reader.read(told, 0, told.length, (anchors) => {
      for (const { key } of anchors) show(key);
    });
  }

  #withoutNotes(): Summary {
    const { nodes, previous, round } = this.#request;
    const before = this.#previous;
    const last = nodes.at(-1);
    const items = todoItems(nodes, before.items);
    return {
      ...before,
      round,
      firstTurn: previous?.firstTurn ?? nodes[0]?.turn ?? 0,
      lastTurn: last?.turn ?? before.lastTurn,
      ...(last === undefined ? {} : { until: last.index }),
      task: this.#task,
      facts: mergedByText(before.facts, constraints(this.#notWhole())),
      decisions: mergedByText(before.decisions, decisions(nodes)).slice(-MOST_DECISIONS),
      items,
      outcomes: outcomes(nodes, this.#survey, before.outcomes.map(unchosen)),
      files: [],
      notes: this.#alwaysSaid(),
      ...stateOf(nodes, items, this.#task, before),
      splitTurn: this.#splitTurn(),
    };
  }

  /** The messages that the summary stands for, and those that stay in part only. */
  #notWhole(): readonly Node[] {
    const { nodes, kept = [] } = this.#request;
    const cut = kept.filter(({ node, shown }) => shown !== node.message).map(({ node }) => node);
    return cut.length === 0 ? nodes : [...nodes, ...cut].toSorted((a, b) => a.index - b.index);
  }

  /** What the user asked between the task and now, and the agent's last steps: told in short, newest first. */
  #alwaysSaid(): readonly Note[] {
    const { nodes } = this.#request;
    const task = this.#task;
    const turns = nodes.filter(({ message }) => startsTurn(message));
    const asked = turns.filter(
      ({ message }) => textOf(message) !== task && isRequest(textOf(message)),
    );
    const users = within(this.#room.chars * SHARE.asked, asked, (node) =>
      oneLine(textOf(node.message), 220),
    );
    const host = turns.find((node) => this.#isHost(node));
    if (host !== undefined) users.unshift([host, hostLine(textOf(host.message))]);
    const steps = this.#splitTurnNodes() === undefined ? this.#steps(nodes) : [];
    return [...users, ...steps]
      .map(([node, text]): Note => ({
        text,
        by: node.message.role === 'user' ? 'user' : 'assistant',
        turn: node.turn,
        at: node.index,
        worth: ALWAYS,
      }))
      .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  }

  #steps(
    nodes: readonly Node[],
    chars: number = this.#room.chars * SHARE.steps,
  ): readonly (readonly [Node, string])[] {
    const said = nodes.filter(
      ({ message }) => message.role === 'assistant' && textOf(message) !== '',
    );
    return within(chars, said, ({ message }) => firstSentence(textOf(message)));
  }

  /** The same of a turn in which the agent may say nothing: what it says of its calls, or else these. */
  #deeds(nodes: readonly Node[], chars: number): readonly string[] {
    const line = (tell: (message: Message) => string): readonly string[] =>
      within(chars, nodes, ({ message }) =>
        message.role === 'assistant' ? tell(message) : '',
      ).map(([{ index }, text]) => `- [m${index + 1}] ${text}`);
    const said = line((message) => firstSentence(textOf(message)) || describedCall(message));
    return said.length > 0 ? said : line(firstCall);
  }

  #splitTurnNodes(): readonly Node[] | undefined {
    const { nodes, splitTurn } = this.#request;
    return splitTurn === undefined
      ? undefined
      : nodes.filter(({ turn }) => turn === splitTurn.turn);
  }

  /** The beginning of a turn whose end stays: what the agent did in it so far, in its own words. */
  #splitTurn(): Summary['splitTurn'] {
    const { splitTurn, maxTokens = DEFAULT_TOKENS } = this.#request;
    const prefix = this.#splitTurnNodes();
    if (splitTurn === undefined || prefix === undefined) return null;
    const most =
      (this.#room.chars * Math.min(splitTurn.maxTokens, maxTokens * SHARE.steps * 2)) / maxTokens;
    const { splitTurn: before } = this.#previous;
    const told = before?.turn === splitTurn.turn ? before.text.split('\n') : [];
    const lines = [...told, ...this.#deeds(prefix, most)];
    return { turn: splitTurn.turn, text: newest(lines, most).join('\n') };
  }

  #with(bare: Summary, { notes, files, calls }: ChosenNotes): Summary {
    const ended = [...bare.outcomes];
    for (const [trail, { worth, source }] of calls) {
      const { segment, index: at, turn } = this.#survey.placed[trail.segment] as Placed;
      const { tool } = segment;
      const known = ended.findLastIndex((one) => one.at === at && one.tool === tool);
      const outcome = source.endsWith(FAILED) ? 'failure' : 'success';
      const call = source.slice(tool.length + 1);
      const chosen = { tool, outcome, turn, at, ...ended[known], call, worth } as const;
      ended.splice(known < 0 ? ended.length : known, known < 0 ? 0 : 1, chosen);
    }
    return {
      ...bare,
      outcomes: ended,
      files: filesOf(this.#survey, files),
      notes: withoutTwice([...bare.notes, ...notes]),
    };
  }
}

/** How many characters a token has in these messages. */
function charsPerToken(nodes: readonly Node[], counter: Counter): number {
  const sample = nodes
    .slice(-20)
    .map(({ message }) => scanText(message))
    .join('\n')
    .slice(0, 20_000);
  return sample.length < 100 ? 4 : sample.length / Math.max(1, counter.text(sample));
}

function scanText(message: Message): string {
  return message.parts
    .map((part) => (part.kind === 'text' ? part.text : part.kind === 'call' ? part.args : ''))
    .join('\n')
    .slice(0, 4_000);
}

/** The newest lines that fit a number of characters, each once, in their order. */
function within(
  chars: number,
  nodes: readonly Node[],
  line: (node: Node) => string,
): (readonly [Node, string])[] {
  const taken: (readonly [Node, string])[] = [];
  const seen = new Set<string>();
  let left = chars;
  for (let i = nodes.length - 1; i >= 0 && left > 12; i--) {
    const node = nodes[i] as Node;
    const text = shortened(line(node), Math.max(40, left - 10));
    if (text.length < 12 || text.length + 10 > left || seen.has(text)) continue;
    seen.add(text);
    left -= text.length + 10;
    taken.push([node, text]);
  }
  return taken.toReversed();
}

/** The last lines that fit a number of characters. */
function newest(lines: readonly string[], chars: number): readonly string[] {
  let left = chars;
  return lines.slice(lines.findLastIndex((line) => (left -= line.length + 1) < 0) + 1);
}

/** What an agent says of a call where it says it in the call. */
const DESCRIBED = /"description"\s{0,2}:\s{0,2}"((?:[^"\\]|\\.){12,200})"/;

function describedCall(message: Message): string {
  const told = callsOf(message).flatMap(({ args }) => DESCRIBED.exec(args)?.[1] ?? []);
  return oneLine(told.join('; '), CALL_CHARS);
}

function firstCall(message: Message): string {
  const [call] = callsOf(message);
  return call === undefined ? '' : callLine(call.tool, call.args, CALL_CHARS);
}

function withoutTwice(notes: readonly Note[]): readonly Note[] {
  const seen = new Set<string>();
  return notes.filter(({ text, by }) => {
    const key = `${by} ${text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** What was worth naming in an earlier round is judged anew. */
function unchosen(outcome: ToolOutcome): ToolOutcome {
  const { worth: _, ...rest } = outcome;
  return rest;
}

function filesOf(
  survey: AnchorStatistics,
  worths: ReadonlyMap<FileAccess, number>,
): readonly FileRecord[] {
  const files = survey.files.all().toSorted((a, b) => a.touchedAt - b.touchedAt);
  const named = files.slice(-MOST_FILES);
  return [...files.slice(0, -MOST_FILES).filter((file) => worths.has(file)), ...named].map(
    (file) => {
      const { path, reads, edits, written, deleted, touchedAt } = file;
      const worth = worths.get(file);
      return {
        path,
        read: reads > 0,
        written,
        edited: edits > (written ? 1 : 0) && !(deleted && edits === 1),
        deleted,
        ...(touchedAt < 0 ? {} : { at: touchedAt }),
        ...(worth === undefined ? {} : { worth }),
      };
    },
  );
}

function trailOf({ path, read, written, edited, deleted, at = -1 }: FileRecord): FileAccess {
  const edits = (written ? 1 : 0) + (edited ? 1 : 0) + (deleted ? 1 : 0);
  return {
    path,
    reads: read ? 1 : 0,
    edits,
    written,
    deleted,
    touchedAt: at,
    editedAt: edits > 0 ? at : -1,
  };
}

const VOICES: Readonly<Record<Speaker, Voice>> = {
  user: VOICE.user,
  assistant: VOICE.text,
  tool: VOICE.tool,
  system: VOICE.system,
};

function voiceOf({ by, source }: Note): Voice {
  return by === 'assistant' && source !== undefined ? VOICE.args : VOICES[by];
}

function mergedByText<T extends { readonly text: string }>(
  before: readonly T[],
  now: readonly T[],
): readonly T[] {
  const all = new Map<string, T>();
  for (const item of [...before, ...now]) all.set(item.text, item);
  return [...all.values()];
}
