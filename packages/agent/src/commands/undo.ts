import type { Session } from '@bobbin/core';
import { startsTurn, type Node } from '@bobbin/core/internal';
import type { Agent } from '../agent.ts';
import { isCompaction } from '../compaction-report.ts';
import { ExpectedError } from '../expected-error.ts';
import { newSessionId } from '../session-id.ts';
import type { AgentSession } from '../session.ts';
import type { CommandResult, SlashCommand } from './command.ts';

/** Takes back what happened last: a compaction or a turn. */
export const undoCommand: SlashCommand = {
  name: 'undo',
  operands: '[compaction|turn]',
  summary: 'Take back the last compaction or the last turn, whichever came last',
  when: 'idle',
  async run(agent, operands) {
    if (operands !== '' && operands !== 'compaction' && operands !== 'turn')
      throw new ExpectedError('/undo takes compaction or turn, or nothing');
    const path = await agent.session.path();
    const turn = path.findLast(({ message }) => startsTurn(message));
    const compaction = await lastCompaction(agent.session, path);
    const isCompactionLast = (compaction?.length ?? 0) > (turn?.index ?? 0);
    if (operands === 'compaction' || (operands === '' && isCompactionLast))
      return undoCompaction(agent, compaction);
    if (turn === undefined) throw new ExpectedError('there is nothing to undo');
    return undoTurn(agent, path, turn);
  },
};

interface MadeCompaction {
  /** Of the plan that it made. */
  readonly version: number;
  /** How long the path was then. */
  readonly length: number;
}

/** The newest compaction that is in force; a plan may also be new because a long result was shortened or a message pinned. */
async function lastCompaction(
  { store, key, handle }: AgentSession,
  path: readonly Node[],
): Promise<MadeCompaction | undefined> {
  const ids = new Set<string>(path.map(({ id }) => id));
  const events = await store.events(key);
  const made = new Set(
    events.flatMap(({ version, event }) => (isCompaction(event) ? version : [])),
  );
  const told = new Set(events.map(({ version }) => version));
  for (let version = versionInForce(handle); version > 0; version--) {
    // A branch begins with the plan of the session it comes from, whose events stay there.
    const isTakenOver = version === 1 && !told.has(version);
    if (!made.has(version) && !isTakenOver) continue;
    const plan = (await store.plan(key, version))?.plan;
    if (plan === undefined || plan.head === null || !ids.has(plan.head)) continue;
    if (made.has(version) || plan.records.some(({ kind }) => kind !== 'externalize'))
      return { version, length: plan.threadVersion };
  }
  return undefined;
}

/** The version of the newest plan whose changes are shown. */
function versionInForce({ plan, version }: Session<unknown>): number {
  return plan.undid === undefined ? version : plan.undid - 1;
}

/** Takes plans back until none from a version on is in force. False where there is none. */
async function undoFrom(handle: Session<unknown>, version: number): Promise<boolean> {
  let undone = false;
  while (versionInForce(handle) >= version && (await handle.undo())) undone = true;
  return undone;
}

async function undoCompaction(
  agent: Agent,
  compaction: MadeCompaction | undefined,
): Promise<CommandResult> {
  const { session } = agent;
  const before = session.contextTokens;
  if (compaction === undefined || !(await undoFrom(session.handle, compaction.version)))
    throw new ExpectedError('there is no compaction to undo');
  agent.forgetCompaction();
  const next = session.isFull
    ? 'as it is, it does not fit: the next message has it compacted again. /handoff GOAL or a model with a larger window go on without.'
    : 'the next one comes when the prompt would no longer fit.';
  return {
    text: `The last compaction is undone: the prompt shows again what it showed before; ${next}`,
    data: { undone: 'compaction', tokensBefore: before, tokensAfter: session.contextTokens },
  };
}

/** The messages stay in the file, on a fork of their own. Files that the turn changed stay as they are. */
async function undoTurn(agent: Agent, path: readonly Node[], turn: Node): Promise<CommandResult> {
  const before = path[turn.index - 1];
  const { undid } = agent.session.handle.plan;
  if (before === undefined) await agent.enter(newSessionId(agent.options.clock.now()));
  else await agent.session.moveHead(before);
  // The earlier head knows nothing of an undo that was made behind it.
  if (undid !== undefined) await undoFrom(agent.session.handle, undid);
  agent.tellSession();
  return {
    text: 'The last turn is undone in the conversation; files that it changed stay as they are.',
    data: { undone: 'turn', message: turn.id, session: agent.session.id },
  };
}
