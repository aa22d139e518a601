import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  MOST_FAILURES,
  startMachine,
  transition,
  type Machine,
  type MachineEvent,
} from '../src/loop/machine.ts';
import type { Effect } from '../src/loop/effect.ts';

const PREPARED = { kind: 'prepared', result: 'none', fits: true, full: false } as const;
const COMPACTED = { ...PREPARED, result: 'done' } as const;

/** Plays events from a state on; gives the last state and the effects of the last event. */
function play(machine: Machine, ...events: readonly MachineEvent[]): [Machine, readonly Effect[]] {
  let state = machine;
  let effects: readonly Effect[] = [];
  for (const event of events) [state, effects] = transition(state, event);
  return [state, effects];
}

const fresh = startMachine(true);
const submit = (text: string): MachineEvent => ({ kind: 'submit', text });
const answered = (calls: number): MachineEvent => ({ kind: 'answered', calls });

function kinds(effects: readonly Effect[]): readonly string[] {
  return effects.map(({ kind }) => kind);
}

test('B16 a turn: append, prepare, ask, act, prepare, ask, settle, rest', () => {
  const seen: (readonly string[])[] = [];
  let state = fresh;
  for (const event of [
    submit('go'),
    PREPARED,
    answered(1),
    { kind: 'acted' } as const,
    PREPARED,
    answered(0),
    PREPARED,
  ]) {
    const [next, effects] = transition(state, event);
    seen.push([next.phase, ...kinds(effects)]);
    state = next;
  }
  assert.deepEqual(seen, [
    ['preparing', 'append', 'prepare'],
    ['asking', 'ask'],
    ['acting', 'act'],
    ['preparing', 'prepare'],
    ['asking', 'ask'],
    ['settling', 'prepare'],
    ['idle', 'end'],
  ]);
});

test('B16 typing while compacting: queued, then sent after the compaction', () => {
  const [compacting] = play(fresh, submit('go'), { kind: 'compaction-began' });
  assert.equal(compacting.phase, 'compacting');
  const [queued, reported] = play(compacting, submit('one'), submit('two'));
  assert.equal(queued.phase, 'compacting');
  assert.deepEqual(reported, [{ kind: 'show-queue', texts: ['one', 'two'] }]);
  const [sent, effects] = play(queued, COMPACTED);
  assert.deepEqual([sent.phase, sent.queue], ['preparing', []]);
  assert.deepEqual(effects, [
    { kind: 'append', text: 'one' },
    { kind: 'append', text: 'two' },
    { kind: 'show-queue', texts: [] },
    { kind: 'prepare', compaction: 'early' },
  ]);
});

test('B16 typing while a compaction runs after the last answer: sent, and the turn goes on', () => {
  const [state] = play(
    fresh,
    submit('go'),
    PREPARED,
    answered(0),
    { kind: 'compaction-began' },
    submit('more'),
  );
  assert.equal(state.phase, 'settling-compacting');
  const [next, effects] = play(state, COMPACTED);
  assert.equal(next.phase, 'preparing');
  assert.deepEqual(kinds(effects), ['append', 'show-queue', 'prepare']);
});

test('B16 Esc while compacting: it is aborted, nothing changed, what was typed comes back', () => {
  const [compacting] = play(fresh, submit('go'), { kind: 'compaction-began' }, submit('later'));
  const [waiting, abort] = play(compacting, { kind: 'interrupt' });
  assert.deepEqual([waiting, abort], [compacting, [{ kind: 'abort' }]]);
  const [idle, effects] = play(waiting, { kind: 'aborted' });
  assert.deepEqual([idle.phase, idle.queue], ['idle', []]);
  assert.deepEqual(effects, [
    { kind: 'notice', text: 'The compaction was stopped; nothing has changed.' },
    { kind: 'return', texts: ['later'] },
    { kind: 'end', reason: 'interrupted' },
  ]);
});

test('B16 a tool is running: a compaction that is asked for waits for it, then the task goes on', () => {
  const [acting] = play(fresh, submit('go'), PREPARED, answered(1));
  const wanted = { kind: 'compact', instructions: 'keep the paths' } as const;
  const [waiting, reported] = play(acting, { kind: 'want', wanted });
  assert.deepEqual([waiting.phase, kinds(reported)], ['acting', ['notice']]);
  const [compacting, effects] = play(waiting, { kind: 'acted' });
  assert.equal(compacting.phase, 'compacting-between-steps');
  assert.deepEqual(effects, [{ kind: 'compact', instructions: 'keep the paths' }]);
  const [next, more] = play(compacting, { kind: 'compacted', result: 'done' });
  assert.deepEqual([next.phase, kinds(more)], ['preparing', ['prepare']]);
});

test('B16 a second trigger: one compaction at a time', () => {
  const [compacting] = play(fresh, submit('go'), { kind: 'compaction-began' });
  const again: MachineEvent = { kind: 'want', wanted: { kind: 'compact' } };
  const [same, reported] = play(compacting, again);
  assert.deepEqual([same, kinds(reported)], [compacting, ['notice']]);
  const [acting] = play(fresh, submit('go'), PREPARED, answered(1), again);
  assert.deepEqual(play(acting, again)[0], acting);
});

test('B12 B16 an error while compacting: shown, and the step goes on without', () => {
  const [compacting] = play(fresh, submit('go'), { kind: 'compaction-began' });
  const [next, effects] = play(compacting, { kind: 'failed', reason: 'no space left' });
  assert.equal(next.phase, 'preparing');
  assert.deepEqual(effects, [
    { kind: 'error', text: 'no space left' },
    { kind: 'prepare', compaction: 'never' },
  ]);
  assert.equal(play(next, PREPARED)[0].phase, 'asking');
});

test('B16 an error of the provider: the turn is over, what was typed comes back', () => {
  const [asking] = play(fresh, submit('go'), PREPARED, submit('later'));
  const [idle, effects] = play(asking, { kind: 'failed', reason: 'HTTP 500' });
  assert.equal(idle.phase, 'idle');
  assert.deepEqual(effects, [
    { kind: 'error', text: 'HTTP 500' },
    { kind: 'return', texts: ['later'] },
    { kind: 'end', reason: 'failed' },
  ]);
});

test('B16 a switch of models waits for the step and happens before the next one', () => {
  const [asking] = play(fresh, submit('go'), PREPARED, {
    kind: 'want',
    wanted: { kind: 'switch', model: 'a/b' },
  });
  const [acting] = play(asking, answered(1));
  const [switching, effects] = play(acting, { kind: 'acted' });
  assert.deepEqual(
    [switching.phase, effects],
    ['switching-between-steps', [{ kind: 'switch', model: 'a/b' }]],
  );
  assert.deepEqual(kinds(play(switching, { kind: 'switched', result: 'done' })[1]), ['prepare']);
  const [idle, failed] = play(switching, { kind: 'failed', reason: 'no' });
  assert.deepEqual([idle.phase, kinds(failed)], ['idle', ['error', 'end']]);
});

test('B16 E3 overflow: compact and ask again, at most three times', () => {
  const refusal = { requestTokens: 20_000, limitTokens: 16_000 };
  const overflowed: MachineEvent = { kind: 'overflowed', reason: 'too long', refusal };
  let [state] = play(fresh, submit('go'), PREPARED);
  for (let i = 0; i < 3; i++) {
    const [compacting, effects] = play(state, overflowed);
    assert.deepEqual(kinds(effects), ['notice', 'compact-for-provider']);
    [state] = play({ ...compacting, answers: 9 }, { kind: 'compacted', result: 'done' }, PREPARED);
    assert.equal(state.phase, 'asking');
  }
  const [idle, effects] = play(state, overflowed);
  assert.deepEqual([idle.phase, kinds(effects)], ['idle', ['error', 'end']]);
});

test('B16 three compactions in a row that free nothing: it stops trying and says so', () => {
  let state: Machine = fresh;
  let effects: readonly Effect[] = [];
  [state] = play(state, submit('go'));
  for (let i = 0; i < MOST_FAILURES; i++) {
    [state, effects] = play(state, { ...PREPARED, result: 'useless' });
    assert.equal(state.phase, 'asking');
    if (i < MOST_FAILURES - 1) {
      assert.deepEqual(effects, [{ kind: 'ask' }]);
      [state] = play(state, answered(1), { kind: 'acted' });
    }
  }
  assert.equal(state.automatic, 'gave-up');
  assert.deepEqual(kinds(effects), ['error', 'ask']);
  const [next, more] = play(state, answered(1), { kind: 'acted' });
  assert.deepEqual([next.automatic, more], ['gave-up', [{ kind: 'prepare', compaction: 'must' }]]);
  assert.equal(play(next, { kind: 'automatic', on: true })[0].automatic, 'on');
});

test('B16 three summaries in a row that no model wrote: the model is no longer asked for any', () => {
  let [state] = play(fresh, submit('go'));
  let effects: readonly Effect[] = [];
  for (let i = 0; i < MOST_FAILURES; i++) {
    [state, effects] = play({ ...state, answers: 9 }, { ...PREPARED, result: 'by-extract' });
    if (i < MOST_FAILURES - 1) [state] = play(state, answered(1), { kind: 'acted' });
  }
  assert.deepEqual(kinds(effects), ['use-extract', 'notice', 'ask']);
  assert.deepEqual([state.summaries, state.automatic], ['extract', 'on']);
});

test('B16 refilled at once after compaction: it stops and says why instead of going round', () => {
  let [state] = play(fresh, submit('go'), COMPACTED, answered(1), { kind: 'acted' });
  assert.equal(state.refills, 0);
  [state] = play(state, COMPACTED, answered(1), { kind: 'acted' });
  assert.equal(state.refills, 1);
  const [idle, effects] = play(state, COMPACTED);
  assert.equal(idle.phase, 'idle');
  assert.match((effects[0] as { text: string }).text, /fills up again at once/);
  assert.deepEqual(effects.at(-1), { kind: 'end', reason: 'stopped' });
  const [quiet] = play(
    fresh,
    submit('go'),
    COMPACTED,
    answered(1),
    { kind: 'acted' },
    PREPARED,
    answered(1),
    { kind: 'acted' },
    COMPACTED,
  );
  assert.deepEqual([quiet.phase, quiet.refills], ['asking', 0]);
});

test('B16 what a person compacts or undoes does not count as going round', () => {
  const loop = [submit('go'), COMPACTED, answered(1), { kind: 'acted' } as const] as const;
  const [first] = play(fresh, ...loop);
  const byHand = { kind: 'compacted', result: 'done' } as const;
  const [asked] = play(
    { ...first, phase: 'asking' },
    { kind: 'want', wanted: { kind: 'compact' } },
    answered(1),
    { kind: 'acted' },
  );
  assert.equal(asked.phase, 'compacting-between-steps');
  const [after] = play(asked, byHand);
  assert.deepEqual([after.refills, after.answers], [asked.refills, asked.answers]);
  const [undone] = play(first, { kind: 'undone' }, COMPACTED);
  assert.equal(undone.refills, 0);
  const [counted] = play(first, COMPACTED);
  assert.equal(counted.refills, 1);
});

test('a compaction with instructions that cannot be had now says so', () => {
  const [compacting] = play(fresh, { kind: 'want', wanted: { kind: 'compact' } });
  const again = { kind: 'compact', instructions: 'keep the names' } as const;
  const [, effects] = play(compacting, { kind: 'want', wanted: again });
  assert.match((effects[0] as { text: string }).text, /under way already, so these instructions/);
});

test('B16 auto-compaction off and full: it stops and says what helps', () => {
  const off = startMachine(false);
  const [state, effects] = play(off, submit('go'));
  assert.deepEqual(effects.at(-1), { kind: 'prepare', compaction: 'never' });
  const [idle, reported] = play(state, { ...PREPARED, full: true });
  assert.equal(idle.phase, 'idle');
  assert.match((reported[0] as { text: string }).text, /auto-compaction is off/);
});

test('B23 what is typed while a hand-over is made waits for it', () => {
  const [holding] = play(fresh, { kind: 'hold' }, submit('more'));
  assert.deepEqual([holding.phase, holding.queue], ['holding', ['more']]);
  assert.deepEqual(kinds(play(holding, { kind: 'released', goOn: true })[1]), [
    'append',
    'show-queue',
    'prepare',
  ]);
  assert.equal(play(fresh, { kind: 'hold' }, { kind: 'released', goOn: false })[0].phase, 'idle');
});

test('B16 whatever happens in whatever phase, nothing that was typed is lost', () => {
  const events: readonly MachineEvent[] = [
    submit('typed'),
    PREPARED,
    COMPACTED,
    answered(0),
    answered(1),
    { kind: 'acted' },
    { kind: 'compaction-began' },
    { kind: 'compacted', result: 'done' },
    { kind: 'failed', reason: 'x' },
    { kind: 'aborted' },
    { kind: 'interrupt' },
    { kind: 'switched', result: 'none' },
    { kind: 'hold' },
    { kind: 'released', goOn: false },
    { ...PREPARED, full: true },
    { ...PREPARED, fits: false },
    { kind: 'want', wanted: { kind: 'compact' } },
    { kind: 'want', wanted: { kind: 'switch', model: 'a/b' } },
    { kind: 'overflowed', reason: 'x', refusal: {} },
  ];
  let seed = 20_261_115;
  const random = (): number =>
    (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let run = 0; run < 300; run++) {
    let state = fresh;
    let typed = 0;
    let handed = 0;
    for (let step = 0; step < 60; step++) {
      const event = events[Math.floor(random() * events.length)] as MachineEvent;
      const [next, effects] = transition(state, event);
      if (event.kind === 'submit') typed += 1;
      for (const effect of effects) {
        if (effect.kind === 'append') handed += 1;
        if (effect.kind === 'return') handed += effect.texts.length;
      }
      assert.equal(
        handed + next.queue.length,
        typed,
        `run ${run}, step ${step}, ${state.phase} + ${event.kind}`,
      );
      state = next;
    }
  }
});
