import { textOf } from '@bobbin/core';
import type { Node } from '@bobbin/core/internal';
import { ExpectedError } from '../expected-error.ts';
import type { AgentSession } from '../session/session.ts';
import type { SlashCommand } from './command.ts';
import { turnChoices, turnOf } from './turn-choice.ts';

/** Keeps a message, or a rule in words, whole until it is unpinned. */
export const pinCommand: SlashCommand = {
  name: 'pin',
  operands: '[N|TEXT]',
  summary: 'Keep your message N, or a rule in words, whole in every prompt',
  when: 'idle',
  async run(agent, operands) {
    const { session } = agent;
    const turns = await session.turns();
    if (operands === '') {
      const pinned = turns.filter((node) => isPinned(session, node));
      const list = pinned.map((node) => `- ${textOf(node.message)}`).join('\n');
      return {
        text: list === '' ? 'Nothing is pinned but the instruction files.' : list,
        data: pinned.map((node) => ({ id: node.id, text: textOf(node.message) })),
        choices: turnChoices('Pin which message?', turns, (node) => !isPinned(session, node)),
      };
    }
    if (!/^\d+$/.test(operands)) {
      const id = await agent.note({ typed: operands });
      await session.handle.pin(id);
      return { text: 'Pinned: it stays whole in every prompt.', data: { id } };
    }
    if (turns.length === 0) throw new ExpectedError('there is nothing to pin yet');
    const node = turnOf(turns, operands);
    await session.handle.pin(node.id);
    agent.tellContext();
    return {
      text: `Message ${operands} is pinned: it stays whole in every prompt. /unpin takes that back.`,
      data: { id: node.id },
    };
  },
};

/** Undoes `/pin`. */
export const unpinCommand: SlashCommand = {
  name: 'unpin',
  operands: '[N]',
  summary: 'Let compaction touch your message N again',
  when: 'idle',
  async run(agent, operands) {
    const { session } = agent;
    const turns = await session.turns();
    if (!turns.some((node) => isPinned(session, node)))
      throw new ExpectedError('nothing is pinned but the instruction files');
    if (operands === '') {
      const choices = turnChoices('Unpin which message?', turns, (node) => isPinned(session, node));
      const text = choices.items.map(({ label }) => label).join('\n');
      return { text, data: choices.items.map(({ value, label }) => ({ value, label })), choices };
    }
    const node = turnOf(turns, operands);
    if (!isPinned(session, node)) throw new ExpectedError(`message ${operands} is not pinned`);
    await session.handle.unpin(node.id);
    return {
      text: `Message ${operands} is no longer pinned: the next compaction may take it.`,
      data: { id: node.id },
    };
  },
};

function isPinned({ handle }: AgentSession, { id }: Node): boolean {
  return handle.plan.pins.includes(id);
}
