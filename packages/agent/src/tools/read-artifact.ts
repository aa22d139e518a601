import { READ_ARTIFACT_TOOL, readArtifact } from '@bobbin/core';
import type { Tool } from './tool.ts';

/** Reads back what was moved out of the prompt (C11). */
export const readArtifactTool: Tool = {
  ...READ_ARTIFACT_TOOL,
  policy: { durability: 'ephemeral', replayCost: 'free' },
  async run(args, { artifacts, key }) {
    const id = args.text('id');
    const text = await readArtifact(artifacts, { tenant: key.tenant }, { ...args.values, id });
    return { text, outcome: 'success', keyFields: { artifact: id } };
  },
};
