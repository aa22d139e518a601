import type { ImagePart, Message, Part } from '@bobbin/core';

/** A message of a person: what was typed, and what that brings along. */
export interface Said {
  readonly typed: string;
  readonly attached?: readonly string[];
  readonly images?: readonly ImagePart[];
}

/** What was typed is a separate part, so that it can always be distinguished from the rest. */
export function saidParts({ typed, attached = [], images = [] }: Said): readonly Part[] {
  // The blank line is for readers that join the parts to one text.
  const blocks = attached.map((text) => ({ kind: 'text', text: `\n${text}` }) as const);
  return [{ kind: 'text', text: typed }, ...blocks, ...images];
}

export function saidIn({ parts }: Message): Said {
  const [typed = '', ...attached] = parts.flatMap((part) =>
    part.kind === 'text' ? [part.text.replace(/^\n/, '')] : [],
  );
  return { typed, attached };
}
