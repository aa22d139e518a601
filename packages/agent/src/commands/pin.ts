import { textOf } from '@bobbin/core';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';
import { turnChoices, turnOf } from './turn-choice.ts';

/** Keeps a message, or a rule in words, whole for ever. */
export const pinCommand: SlashCommand = {
  name: 'pin',
  operands: '[N|TEXT]',
  summary: 'Keep your message N, or a rule in words, whole in every prompt',
  when: 'idle',
  async run(agent, operands) {
    const { session } = agent;
    const turns = await session.turns();
    if (operands === '') {
      const pins = new Set<string>(session.handle.plan.pins);
      const pinned = turns.filter(
        (node) => pins.has(node.id) || node.message.meta?.pinned === true,
      );
      const list = pinned.map((node) => `- ${textOf(node.message)}`).join('\n');
      return {
        text: list === '' ? 'Nothing is pinned but the instruction files.' : list,
        data: pinned.map((node) => ({ id: node.id, text: textOf(node.message) })),
        choices: turnChoices('Pin which message?', turns),
      };
    }
    if (!/^\d+$/.test(operands)) {
      const id = await agent.note({ typed: operands }, true);
      return { text: 'Pinned: it stays whole in every prompt.', data: { id } };
    }
    if (turns.length === 0) throw new ExpectedError('there is nothing to pin yet');
    const node = turnOf(turns, operands);
    await session.handle.pin(node.id);
    agent.tellContext();
    return {
      text: `Message ${operands} is pinned: it stays whole in every prompt.`,
      data: { id: node.id },
    };
  },
};
