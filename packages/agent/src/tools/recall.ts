import { answerRecall, RECALL_TOOL } from '@bobbin/core/internal';
import type { Tool } from './tool.ts';

/** Searches what was compacted. */
export const recallTool: Tool = {
  ...RECALL_TOOL,
  policy: { durability: 'ephemeral', replayCost: 'free' },
  async run(args, { store, key }) {
    const text = await answerRecall(store, key, args.values);
    return { text, outcome: 'success', keyFields: { ...args.values } };
  },
};
