import type { ArtifactId } from '@bobbin/core';
import { failure, integer, objectSchema, text, type Tool } from './tool.ts';

const DEFAULT_CHARS = 16_000;

/** Reads back what was moved out of the prompt (C11). */
export const readArtifactTool: Tool = {
  name: 'read_artifact',
  description:
    'Read back content that was moved out of this conversation, by the artifact id that stands in its place. Long content comes in parts: give offset.',
  parameters: objectSchema(
    {
      id: text('The artifact id'),
      offset: integer('The first character, from 0'),
      limit: integer(`How many characters, ${DEFAULT_CHARS} where absent`),
    },
    'offset',
    'limit',
  ),
  policy: { durability: 'ephemeral', replayCost: 'free' },
  async run(args, { artifacts, key }) {
    const id = args.text('id').replace(/^artifact:/, '');
    const content = await artifacts.get(id as ArtifactId, { tenant: key.tenant });
    if (content === undefined) return failure(`there is no artifact ${id}`);
    const from = args.optionalCount('offset') ?? 0;
    const until = Math.min(content.length, from + (args.optionalCount('limit') ?? DEFAULT_CHARS));
    const more =
      until < content.length
        ? `\n(${content.length - until} more characters; go on with offset ${until})`
        : '';
    return {
      text: content.slice(from, until) + more,
      outcome: more === '' ? 'success' : 'partial',
      keyFields: { artifact: id },
    };
  },
};
