import { canonicalJson } from './json.ts';
import { resultsOf, resultText, textOf, type ArtifactId, type Message } from './message.ts';
import { sha256 } from './sha256.ts';

/** An artifact's id: the hash of its content, so that equal content is kept once. */
export function artifactId(content: string | Uint8Array): ArtifactId {
  return sha256(content).slice(0, 32) as ArtifactId;
}

/** A message as an artifact keeps it. */
export interface ArtifactContent {
  readonly id: ArtifactId;
  readonly content: string;
  readonly mediaType: 'text/plain' | 'application/json';
}

const contents = new WeakMap<Message, ArtifactContent>();

/** Text as it is; whatever holds more than text as JSON of all its parts. */
export function artifactContent(message: Message): ArtifactContent {
  let known = contents.get(message);
  if (known === undefined) {
    const text = plainText(message);
    const content = text ?? canonicalJson(message.parts);
    const mediaType = text === undefined ? 'application/json' : 'text/plain';
    known = { id: artifactId(content), content, mediaType };
    contents.set(message, known);
  }
  return known;
}

function plainText(message: Message): string | undefined {
  const [result, ...more] = resultsOf(message);
  if (result === undefined)
    return message.parts.every((part) => part.kind === 'text') ? textOf(message) : undefined;
  const alone = more.length === 0 && message.parts.length === 1;
  return alone && result.content.every((part) => part.kind === 'text')
    ? resultText(result)
    : undefined;
}
