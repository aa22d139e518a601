import type { FilePart, ImagePart, Message, Part } from './message.ts';

/** The bytes that pictures and files take in a request: those that are part of a message, as base64. */
export function mediaBytes({ parts }: Message): number {
  let bytes = 0;
  for (const part of parts)
    for (const inner of part.kind === 'result' ? part.content : [part])
      if (isSentMedia(inner)) bytes += inner.source.length;
  return bytes;
}

/** True for a picture or a file that is part of the request, not one that the provider fetches by its address. */
export function isSentMedia(part: Part): part is ImagePart | FilePart {
  return (part.kind === 'image' || part.kind === 'file') && part.source.startsWith('data:');
}
