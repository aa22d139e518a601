import { textOf } from '@bobbin/core';
import { branchTo, reworded } from '../session/branching.ts';
import type { SlashCommand } from './command.ts';
import { turnChoices, turnOf } from './turn-choice.ts';

export const branchCommand: SlashCommand = {
  name: 'branch',
  operands: '[N [TEXT]]',
  summary: 'Start a new session from one of your messages; TEXT replaces it',
  when: 'idle',
  async run(agent, operands) {
    const turns = await agent.session.turns();
    const [, number = '', text = ''] = /^(\S*)\s*(.*)$/s.exec(operands) ?? [];
    if (number === '') {
      const choices = turnChoices('Branch from which message?', turns);
      const data = turns.map((node, i) => ({
        number: i + 1,
        id: node.id,
        text: textOf(node.message),
      }));
      return {
        text: choices.items
          .toReversed()
          .map(({ label }) => label)
          .join('\n'),
        data,
        choices,
      };
    }
    const node = turnOf(turns, number);
    const before = agent.session.id;
    const session = await branchTo(agent, node, text === '' ? node.message : reworded(node, text));
    const goesOn = text !== '';
    if (goesOn) agent.goOn();
    return {
      text: `A new session from message ${number}; ${before} stays as it is.${goesOn ? '' : ' Send an empty line to have the message answered.'}`,
      data: { session, from: before, message: node.id },
    };
  },
};
