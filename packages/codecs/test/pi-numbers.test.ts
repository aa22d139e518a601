import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  counterOf,
  createBobbin,
  memoryStore,
  type Counter,
  type Message,
  type MessageId,
  type Part,
} from '@bobbin/core';
import {
  callsOf,
  contextSize,
  currentSummary,
  estimateTokens,
  isSummary,
  parseJson,
  pi,
  type FileRecord,
} from '@bobbin/core/internal';
import { recogniseSession, type Session } from '@bobbin/codecs';
import { withoutRecorded } from '@bobbin/testing/recorded';
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

/** A compaction by the preset, in pi's terms: entries are numbered without the header line. */
interface PiCut {
  readonly firstKept: number;
  readonly turnStart: number;
  readonly split: boolean;
  readonly summarised: number;
  readonly ofSplitTurn: number;
  readonly kept: number;
  /** How many of the files that pi's tools touched the summary names, with what was done to them. */
  readonly files: readonly [read: number, written: number, edited: number];
}

async function piCut(session: Session, keepRecentTokens: number): Promise<PiCut> {
  const { context } = session;
  const preset = pi({ keepRecentTokens, splitTurns: true });
  const store = memoryStore();
  const bobbin = createBobbin({ preset, store, counter: piCounter, window: 1_000_000 });
  const handle = await bobbin.thread('session');
  await handle.append(...context);
  const { plan } = await handle.compact();
  const record = currentSummary(plan);
  assert.ok(record);
  const path = await store.path(handle.key, handle.head as MessageId);
  const turns = path.map(({ turn }) => turn);
  const turnStart = turns.indexOf(turns[plan.start] ?? 0);
  const replaced = context.slice(0, plan.start).filter((message) => !isSummary(message));
  const ofSplitTurn = plan.start - turnStart;
  return {
    firstKept: entryOf(session, plan.start),
    turnStart: entryOf(session, turnStart),
    split: ofSplitTurn > 0,
    summarised: replaced.length - ofSplitTurn,
    ofSplitTurn,
    kept: context.length - plan.start,
    files: [
      filesTold(
        replaced,
        'read',
        record.summary.files.filter(({ read }) => read),
      ),
      filesTold(
        replaced,
        'write',
        record.summary.files.filter(({ written }) => written),
      ),
      filesTold(
        replaced,
        'edit',
        record.summary.files.filter(({ edited }) => edited),
      ),
    ],
  };
}

function entryOf({ context, entries }: Session, at: number): number {
  return entries.findIndex(({ messages }) => messages.some((own) => own === context[at])) - 1;
}

/** How many of the files that a tool of pi's touched are among some, which a summary may name from where it works. */
function filesTold(
  messages: readonly Message[],
  tool: string,
  files: readonly FileRecord[],
): number {
  const calls = messages.flatMap(callsOf).filter((call) => call.tool === tool);
  const paths = new Set(calls.map(({ args }) => (parseJson(args) as { path?: unknown }).path));
  return [...paths].filter((path) => files.some((file) => String(path).endsWith(file.path))).length;
}

const skip = withoutRecorded('session-files');

function sampleOf(name: string): Session {
  const sample = sessionSamples().find((one) => one.name.startsWith(name)) ?? assert.fail(name);
  return recogniseSession(sample.text)?.decode(sample.text) ?? assert.fail(name);
}

test(
  'B24 pi cuts a long session where the preset does, whatever is kept, and every file is named',
  { skip },
  async () => {
    const session = sampleOf('pi-large-session');
    assert.deepEqual(await piCut(session, 20_000), {
      firstKept: 837,
      turnStart: 834,
      split: true,
      summarised: 730,
      ofSplitTurn: 3,
      kept: 181,
      files: [21, 3, 20],
    });
    const cuts = [
      [1_000, 1011, 986],
      [5_000, 983, 978],
      [10_000, 947, 942],
      [40_000, 570, 545],
      [80_000, 127, 68],
    ] as const;
    for (const [tokens, ...cut] of cuts) {
      const { firstKept, turnStart } = await piCut(session, tokens);
      assert.deepEqual([firstKept, turnStart], cut);
    }
  },
);

test(
  'B9 B24 what pi\u2019s last compaction kept is summarised too, and nothing is lost',
  { skip },
  async () => {
    const session = sampleOf('pi-before-compaction');
    assert.equal(session.context.length, 446);
    assert.deepEqual(contextSize(session.context, piCounter), {
      tokens: 180_820,
      reportedTokens: 168_018,
    });
    const cut = await piCut(session, 20_000);
    assert.deepEqual([cut.firstKept, cut.turnStart, cut.summarised], [946, 939, 383]);
    const last = session.compactions.at(-1);
    assert.ok(last);
    assert.equal(session.compactions.length, 2);
    assert.equal(last.after - last.firstKept, 77, 'of which only 306 came later');
    assert.equal(cut.summarised - (last.after - last.firstKept), 306);
  },
);
