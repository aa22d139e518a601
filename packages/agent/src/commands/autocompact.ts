import { saveCompaction } from '../settings.ts';
import { tokensText } from '../figures.ts';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';

/** Shows and toggles auto-compaction with its power-user settings. The choice is kept in the user's settings. */
export const autocompactCommand: SlashCommand = {
  name: 'autocompact',
  operands: '[on|off]',
  summary: 'Turn auto-compaction on or off; shows its settings',
  when: 'any',
  run(agent, operands) {
    const { folders, settings } = agent.options;
    const { reserveTokens, keepRecentTokens } = settings.compaction;
    const figures = `reserveTokens ${tokensText(reserveTokens)}, keepRecentTokens ${tokensText(keepRecentTokens)}`;
    if (operands === '') {
      const now = agent.machine.automatic;
      const items = [
        {
          value: 'on',
          label: 'on',
          description: `compact when less than ${tokensText(reserveTokens)} tokens are left`,
        },
        { value: 'off', label: 'off', description: 'only /compact compacts' },
      ];
      return {
        text: `Auto-compaction is ${now === 'gave-up' ? 'off after repeated failures' : now}; ${figures}.`,
        data: { automatic: now === 'on', reserveTokens, keepRecentTokens },
        choices: {
          title: `Auto-compaction (${now}); ${figures}`,
          items: now === 'on' ? items : items.toReversed(),
        },
      };
    }
    if (operands !== 'on' && operands !== 'off')
      throw new ExpectedError('/autocompact takes on or off');
    const automatic = operands === 'on';
    saveCompaction(folders, { enabled: automatic });
    agent.setAutomatic(automatic);
    return {
      text: `Auto-compaction is ${operands}; ${figures}.`,
      data: { automatic, reserveTokens, keepRecentTokens },
    };
  },
};
