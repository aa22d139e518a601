import { recalled } from '../recalled.ts';
import { objectSchema, text, type Tool } from './tool.ts';

const MOST_FOUND = 5;

/** Searches what was compacted (C26). */
export const recallTool: Tool = {
  name: 'recall',
  description:
    'Search earlier parts of this conversation that were summarised or left out. Use it before asking the user for something that was said or seen before.',
  parameters: objectSchema({ query: text('Words to look for: names, paths, numbers, errors') }),
  policy: { durability: 'ephemeral', replayCost: 'free' },
  async run(args, { store, key }) {
    const query = args.text('query');
    const found = await recalled(store, key, query, MOST_FOUND);
    const texts = found.map(({ place, text: said }) => `[${place}]\n${said}`);
    return {
      text:
        texts.length === 0 ? `Nothing that was compacted matches "${query}".` : texts.join('\n\n'),
      outcome: 'success',
      keyFields: { query, found: texts.length },
    };
  },
};
