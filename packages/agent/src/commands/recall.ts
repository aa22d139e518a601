import { recall } from '@bobbin/core';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';

const MOST_FOUND = 8;

export const recallCommand: SlashCommand = {
  name: 'recall',
  operands: 'QUERY',
  summary: 'Search what was compacted',
  when: 'any',
  async run({ session }, operands) {
    if (operands === '') throw new ExpectedError('/recall takes words to look for');
    const found = await recall(session.store, session.key, operands, { most: MOST_FOUND });
    const text = found
      .map(({ node, excerpt }) => `[turn ${node.turn}, ${node.message.role}]\n${excerpt}`)
      .join('\n\n');
    return {
      text: text === '' ? `Nothing that was compacted matches "${operands}".` : text,
      data: found.map(({ node, excerpt }) => ({
        id: node.id,
        turn: node.turn,
        role: node.message.role,
        excerpt,
      })),
    };
  },
};
