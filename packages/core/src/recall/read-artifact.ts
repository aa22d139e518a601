import type { ArtifactStore, Requester, ToolDefinition } from '../ports.ts';
import type { JsonObject } from '../message/json.ts';
import type { ArtifactId } from '../message/message.ts';
import { pageOf, type PageRequest } from './page.ts';

const PAGE_PARAMETERS: JsonObject = {
  offset: { type: 'integer', minimum: 0, description: 'Read from this character on.' },
  limit: { type: 'integer', minimum: 1, description: 'The most characters to return (8000).' },
  lines: {
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    minItems: 2,
    maxItems: 2,
    description: 'Read from one line to another, such as [120, 180].',
  },
  search: { type: 'string', description: 'Show only the lines that contain this text.' },
};

/** `read_artifact`: pages and greps in what was moved out of the prompt. */
export const READ_ARTIFACT_TOOL: ToolDefinition = {
  name: 'read_artifact',
  description:
    'Reads content that was moved out of the conversation, by the id in "[Externalized Content - artifact:ID]". ' +
    'Large content comes in pages; search for a text to find the right place in it.',
  parameters: {
    type: 'object',
    properties: { id: { type: 'string', description: 'The artifact id.' }, ...PAGE_PARAMETERS },
    required: ['id'],
    additionalProperties: false,
  },
};

/** The requested part of an artifact. An artifact that is missing and one that may not be read give the same answer. */
export async function readArtifact(
  artifacts: ArtifactStore,
  requester: Requester,
  request: PageRequest & { readonly id?: string },
): Promise<string> {
  if (typeof request.id !== 'string' || request.id === '')
    return 'id: name the artifact that is to be read.';
  const id = request.id.replace(/^artifact:/, '') as ArtifactId;
  const metadata = await artifacts.metadata(id, requester);
  if (metadata === undefined) return `There is no artifact ${id}.`;
  if (!isText(metadata.mediaType))
    return `Artifact ${id} is ${metadata.mediaType}: it cannot be read as text.`;
  const text = await artifacts.get(id, requester);
  if (text === undefined) return `There is no artifact ${id}.`;
  return `[artifact:${id}, ${metadata.mediaType}]\n${pageOf(text, request)}`;
}

export function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || /\b(json|xml|yaml|javascript)\b/.test(mediaType);
}
