import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callsOf,
  contextSize,
  counterOf,
  estimateTokens,
  findCut,
  isSummary,
  parseJson,
  unitStarts,
  type Counter,
  type Message,
  type Part,
} from '@bobbin/core';
import { recogniseSession, type Session } from '@bobbin/codecs';
import { sessionSamples } from './recordings.ts';

const IMAGE_CHARS = 4_800;

/** pi counts characters: of text, thinking, names and arguments of calls; four of them are a token, rounded up. */
const piCounter: Counter = counterOf({ name: 'pi', text: estimateTokens }, ({ parts }) =>
  Math.ceil(parts.reduce((sum, part) => sum + charsOf(part), 0) / 4),
);

function charsOf(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'call':
      return part.tool.length + part.args.length;
    case 'result':
      return part.content.reduce((sum, inner) => sum + charsOf(inner), 0);
    case 'image':
      return IMAGE_CHARS;
    case 'file':
    case 'opaque':
      return 0;
  }
}

/** pi's cut: entries are numbered without the header line. */
interface PiCut {
  readonly firstKept: number | undefined;
  readonly turnStart: number | undefined;
  readonly split: boolean;
  readonly summarised: number;
  readonly ofSplitTurn: number;
  readonly kept: number;
  readonly files: readonly [read: number, written: number, edited: number];
}

function piCut(session: Session, tokens: number): PiCut {
  const { context } = session;
  const starts = new Set(unitStarts(context));
  const items = context.map((message, i) => ({
    message,
    tokens: piCounter.message(message),
    startsUnit: starts.has(i),
  }));
  const limits = { targetTokens: 0 };
  const cut = findCut({ kind: 'keep-tokens', tokens, splitTurns: true }, items, limits);
  const behind = context.slice(0, cut.index).filter((message) => !isSummary(message));
  const ofSplitTurn = cut.split ? cut.index - cut.turnStart : 0;
  const files = (tool: string): number => filesOf(behind, tool).size;
  return {
    firstKept: entryOf(session, context[cut.index]),
    turnStart: entryOf(session, context[cut.turnStart]),
    split: cut.split,
    summarised: behind.length - ofSplitTurn,
    ofSplitTurn,
    kept: context.length - cut.index,
    files: [files('read'), files('write'), files('edit')],
  };
}

function entryOf({ entries }: Session, message: Message | undefined): number | undefined {
  const at = entries.findIndex(({ messages }) => messages.some((own) => own === message));
  return at < 0 ? undefined : at - 1;
}

function filesOf(messages: readonly Message[], tool: string): ReadonlySet<string> {
  const calls = messages.flatMap(callsOf).filter((call) => call.tool === tool);
  const paths = calls.map(({ args }) => (parseJson(args) as { path?: unknown } | undefined)?.path);
  return new Set(paths.filter((path) => typeof path === 'string'));
}

function samples(name: string): readonly Session[] {
  return sessionSamples()
    .filter((sample) => sample.name.startsWith(name))
    .flatMap(({ text }) => recogniseSession(text)?.decode(text) ?? []);
}

test('B24 pi cuts a long session where Bobbin does, whatever is kept', () => {
  for (const session of samples('pi-large-session')) {
    assert.deepEqual(piCut(session, 20_000), {
      firstKept: 837,
      turnStart: 834,
      split: true,
      summarised: 730,
      ofSplitTurn: 3,
      kept: 181,
      files: [21, 3, 20],
    });
    const cuts = [1_000, 5_000, 10_000, 40_000, 80_000].map((tokens) => {
      const { firstKept, turnStart } = piCut(session, tokens);
      return [firstKept, turnStart];
    });
    assert.deepEqual(cuts, [
      [1011, 986],
      [983, 978],
      [947, 942],
      [570, 545],
      [127, 68],
    ]);
  }
});

test('B9 B24 what pi\u2019s last compaction kept is summarised too, and nothing is lost', () => {
  for (const session of samples('pi-before-compaction')) {
    assert.equal(session.context.length, 446);
    assert.deepEqual(contextSize(session.context, piCounter), {
      tokens: 180_820,
      reportedTokens: 168_018,
    });
    const cut = piCut(session, 20_000);
    assert.deepEqual([cut.firstKept, cut.turnStart, cut.summarised], [946, 939, 383]);
    const last = session.compactions.at(-1);
    assert.ok(last);
    assert.equal(session.compactions.length, 2);
    assert.equal(last.after - last.firstKept, 77, 'of which only 306 came later');
    assert.equal(cut.summarised - (last.after - last.firstKept), 306);
  }
});
