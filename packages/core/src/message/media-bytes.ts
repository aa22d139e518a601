import type { FilePart, ImagePart, Message, Part } from './message.ts';

/** The bytes that pictures and files take in a request: those that are part of a message, as base64. */
export function mediaBytes({ parts }: Message): number {
  let bytes = 0;
  for (const part of parts) {
    if (part.kind === 'result') for (const content of part.content) bytes += bytesOf(content);
    else bytes += bytesOf(part);
  }
  return bytes;
}

function isMedia(part: Part): part is ImagePart | FilePart {
  return part.kind === 'image' || part.kind === 'file';
}

/** True for a picture or a file that is part of the request, not one that the provider fetches by its address. */
export function isSentMedia(part: Part): part is ImagePart | FilePart {
  return isMedia(part) && part.source.startsWith('data:');
}

function bytesOf(part: Part): number {
  return isSentMedia(part) ? part.source.length : 0;
}
