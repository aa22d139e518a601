import { READ_ARTIFACT_TOOL, readArtifact } from '@bobbin/core/internal';
import type { ArtifactId } from '@bobbin/core/internal';
import type { Tool } from './tool.ts';

/** Reads back what was moved out of the prompt. */
export const readArtifactTool: Tool = {
  ...READ_ARTIFACT_TOOL,
  policy: { durability: 'ephemeral', replayCost: 'free' },
  async run(args, { artifacts, key }) {
    const id = args.text('id');
    const bare = id.replace(/^artifact:/, '') as ArtifactId;
    const requester = { tenant: key.tenant };
    const { mediaType = '' } = (await artifacts.metadata(bare, requester)) ?? {};
    const bytes = mediaType.startsWith('image/')
      ? await artifacts.bytes(bare, requester)
      : undefined;
    if (bytes !== undefined) {
      const image = { mediaType, base64: Buffer.from(bytes).toString('base64') };
      return {
        text: `The image artifact:${bare}`,
        outcome: 'success',
        keyFields: { artifact: bare },
        image,
      };
    }
    const text = await readArtifact(artifacts, requester, { ...args.values, id });
    return { text, outcome: 'success', keyFields: { artifact: id } };
  },
};
