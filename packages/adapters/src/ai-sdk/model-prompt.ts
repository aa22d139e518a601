import type { AiSdkMessage } from '@bobbin/codecs';
import { jsonText } from '@bobbin/core/internal';

/** The system messages that a model's prompt begins with, and the rest. */
export function split(prompt: readonly AiSdkMessage[]): readonly [AiSdkMessage[], AiSdkMessage[]] {
  const first = prompt.findIndex(({ role }) => role !== 'system');
  return first < 0 ? [[...prompt], []] : [prompt.slice(0, first), prompt.slice(first)];
}

export function textOf({ content }: AiSdkMessage): string {
  return typeof content === 'string' ? content : jsonText(content);
}

/** What a language model is given is stricter than what hosts write: text is a part, an image is a file. */
export function asPrompt(message: AiSdkMessage): AiSdkMessage {
  const { role, content } = message;
  if (role === 'system') return message;
  if (typeof content === 'string') return { ...message, content: [textPart(content)] };
  const images = content.some(({ type }) => type === 'image');
  return images ? { ...message, content: content.map(asFile) } : message;
}

function textPart(text: string): { type: string } {
  return { type: 'text', text } as { type: string };
}

function asFile(part: { type: string }): { type: string } {
  if (part.type !== 'image') return part;
  const {
    image,
    mediaType = 'image/*',
    ...rest
  } = part as { image?: unknown; mediaType?: string; type: string };
  return { ...rest, type: 'file', data: image, mediaType } as { type: string };
}
