import { textOf, type Message } from '@bobbin/core';
import { eachFeatures, FEATURES } from '../../packages/core/src/extract/anchors/rank.ts';
import { scan, VOICE } from '../../packages/core/src/extract/anchors/scan.ts';
import { AnchorStatistics } from '../../packages/core/src/extract/anchors/statistics.ts';
import type { Recorded } from './recorded.ts';

/** One moment of one conversation: what was known of every anchor then, and which of them the agent named later. */
export interface Case {
  readonly id: string;
  readonly source: string;
  /** A row for each anchor, one after the other. */
  readonly rows: Float32Array;
  readonly needed: Uint8Array;
  readonly neededCount: number;
}

const CUTS = 8;
const LEAST_TOKENS = 8_000;
const LEAST_TOKENS_BEFORE = 5_000;
const HORIZON = 100;
const LEAST_NEEDED = 3;

/** The cases of a conversation: at several shares of each stretch between compactions, and where it was compacted. */
export function* casesOf(conversation: Recorded): Iterable<Case> {
  const { messages, compactedAt } = conversation;
  const sizes = runningTokens(messages);
  const starts = [0, ...compactedAt];
  for (const [i, from] of starts.entries()) {
    const to = starts[i + 1] ?? messages.length;
    const compacted = i + 1 < starts.length;
    if (tokensBetween(sizes, from, to) < LEAST_TOKENS) continue;
    yield* casesBetween(conversation, { from, to, compacted }, sizes);
  }
}

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly compacted: boolean;
}

function* casesBetween(
  { id, source, messages }: Recorded,
  { from, to, compacted }: Stretch,
  sizes: readonly number[],
): Iterable<Case> {
  const statistics = new AnchorStatistics();
  let turn = 0;
  let at = from;
  for (const cut of cutsBetween(messages, { from, to, compacted }, sizes)) {
    for (; at < cut; at++) {
      const message = messages[at] as Message;
      if (message.role === 'user') turn++;
      statistics.add({ message, index: at - from, turn });
    }
    const end = Math.min(messages.length, cut + HORIZON, cut < to ? to : Number.POSITIVE_INFINITY);
    const needed = neededLater(statistics, messages.slice(cut, end));
    if (needed.size < LEAST_NEEDED) continue;
    const count = statistics.anchors.length;
    const rows = new Float32Array(count * FEATURES.length);
    eachFeatures(statistics, (anchor, row) => rows.set(row, anchor * FEATURES.length));
    const labels = new Uint8Array(count);
    for (const anchor of needed) labels[anchor] = 1;
    yield { id, source, rows, needed: labels, neededCount: needed.size };
  }
}

function cutsBetween(
  messages: readonly Message[],
  { from, to, compacted }: Stretch,
  sizes: readonly number[],
): readonly number[] {
  const total = tokensBetween(sizes, from, to);
  const cuts = new Set<number>();
  for (let j = 1; j <= CUTS; j++) {
    const wanted = (sizes[from] as number) + total * (0.2 + (0.75 * j) / CUTS);
    let cut = sizes.findIndex((size) => size >= wanted);
    while (cut < to && messages[cut]?.role === 'tool') cut++;
    if (cut - from > 8 && to - cut > 5 && tokensBetween(sizes, from, cut) > LEAST_TOKENS_BEFORE)
      cuts.add(cut);
  }
  if (compacted) cuts.add(to);
  return [...cuts].toSorted((a, b) => a - b);
}

/** The anchors that the agent named before any later message told it again. */
function neededLater(statistics: AnchorStatistics, later: readonly Message[]): ReadonlySet<number> {
  const told = new Set<string>();
  const needed = new Set<number>();
  for (const message of later) {
    for (const { voice, mentions } of scan(message, statistics.reader)) {
      for (const { anchor } of mentions) {
        if (told.has(anchor.key)) continue;
        told.add(anchor.key);
        const id = statistics.idOf(anchor.key);
        if (id !== undefined && (voice === VOICE.text || voice === VOICE.args)) needed.add(id);
      }
    }
  }
  return needed;
}

function runningTokens(messages: readonly Message[]): readonly number[] {
  const sums = [0];
  for (const message of messages) sums.push((sums.at(-1) ?? 0) + Math.ceil(charsOf(message) / 4));
  return sums;
}

function charsOf(message: Message): number {
  let chars = textOf(message).length;
  for (const part of message.parts) {
    if (part.kind === 'call') chars += part.tool.length + part.args.length + 2;
    if (part.kind === 'result')
      for (const inner of part.content) if (inner.kind === 'text') chars += inner.text.length;
  }
  return chars;
}

function tokensBetween(sizes: readonly number[], from: number, to: number): number {
  return (sizes[to] as number) - (sizes[from] as number);
}
