import type { Json } from '@bobbin/core/internal';
import { userSettingsPath } from '../settings.ts';
import type { SlashCommand } from './command.ts';

export const settingsCommand: SlashCommand = {
  name: 'settings',
  operands: '',
  summary: 'Show the settings in force and where they are kept',
  when: 'any',
  run(agent) {
    const { folders, settings } = agent.options;
    const { model } = agent.session;
    const data = {
      model: model.name,
      compaction: { ...settings.compaction, enabled: agent.machine.automatic === 'on' },
      permissions: { allow: [...settings.allow] },
      providers: settings.providers as unknown as Json,
      models: settings.models as unknown as Json,
    };
    return {
      text: `${JSON.stringify(data, null, 2)}\nUser: ${userSettingsPath(folders)}\nProject: .bobbin/settings.json (model and compaction only)`,
      data,
    };
  },
};
