import { canonicalJson } from './json.ts';
import { resultText, textHash, type ArtifactId, type Message, type Part } from './message.ts';
import { sha256 } from './sha256.ts';

/** An artifact's id: the hash of its content, so that equal content is kept once. */
export function artifactId(content: string | Uint8Array): ArtifactId {
  const known = latest?.deref();
  return known?.content === content ? known.id : (sha256(content).slice(0, 32) as ArtifactId);
}

/** A message as an artifact keeps it. */
export interface ArtifactContent {
  readonly id: ArtifactId;
  readonly content: string;
  readonly mediaType: 'text/plain' | 'application/json';
}

const contents = new WeakMap<Message, ArtifactContent>();
/** Content is stored soon after its id was needed: a large one is not hashed again for it. */
let latest: WeakRef<ArtifactContent> | undefined;

/** Text as it is, so that it can be read by lines and searched; what holds pictures or files as JSON of all its parts. */
export function artifactContent(message: Message): ArtifactContent {
  let known = contents.get(message);
  if (known === undefined) {
    const text = plainText(message);
    const content = text ?? canonicalJson(message.parts);
    const mediaType = text === undefined ? 'application/json' : 'text/plain';
    known = { id: idOf(message, content), content, mediaType };
    contents.set(message, known);
  }
  latest = new WeakRef(known);
  return known;
}

/** The text of one part is the whole content: its hash may be known. */
function idOf({ parts: [part, ...more] }: Message, content: string): ArtifactId {
  const inner = part?.kind === 'result' && part.content.length === 1 ? part.content[0] : part;
  const isText = more.length === 0 && inner?.kind === 'text';
  return isText ? (textHash(inner).slice(0, 32) as ArtifactId) : artifactId(content);
}

function plainText({ parts }: Message): string | undefined {
  const texts = parts.map(partText);
  if (texts.some((text) => text === undefined)) return undefined;
  if (parts.length === 1 || parts.every(({ kind }) => kind === 'text')) return texts.join('\n');
  return parts.map((part, i) => `${headingOf(part)}${texts[i]}`).join('\n\n');
}

function partText(part: Part): string | undefined {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'call':
      return part.args;
    case 'result':
      return part.content.every(({ kind }) => kind === 'text') ? resultText(part) : undefined;
    case 'image':
    case 'file':
    case 'opaque':
      return undefined;
  }
}

/** Distinguishes the results and calls of one message. */
function headingOf(part: Part): string {
  if (part.kind === 'call') return `[${part.tool} called as ${part.callId}]\n`;
  return part.kind === 'result' ? `[${part.tool ?? 'result'} of call ${part.callId}]\n` : '';
}
