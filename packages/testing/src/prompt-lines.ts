import type { Message, Part, Prompt } from '@bobbin/core';
import type { PromptMessage, Source } from '@bobbin/core/internal';

const LONGEST = 72;

/** A prompt as text, one line a message: its position, who speaks, where it comes from, what it holds. */
export function promptLines(prompt: Prompt): readonly string[] {
  const marked = new Set(prompt.cachePoints);
  return prompt.messages.map(({ message, source }, position) => {
    const point = marked.has(position) ? ' ◆' : '';
    const from = sourceText(source);
    return `${position} ${message.role} (${from}) ${messageLine(message)}${point}`;
  });
}

/** A message of a prompt in one line, for an error. */
export function promptLine({ message, source }: PromptMessage): string {
  return `${message.role} (${sourceText(source)}) ${messageLine(message)}`;
}

/** What a message holds, in one line. */
export function messageLine(message: Message): string {
  return message.parts.length === 0 ? '(empty)' : message.parts.map(partText).join(' + ');
}

function sourceText(source: Source): string {
  switch (source.kind) {
    case 'kept':
    case 'bridge':
      return source.kind;
    case 'changed':
      return source.by;
    case 'record':
      return `record ${source.record}`;
    case 'no-result':
      return `no result of ${source.callId}`;
    case 'rehydrated':
      return `artifact ${source.artifactId}`;
    case 'recalled':
      return `recalled ${source.id}`;
  }
}

function partText(part: Part): string {
  switch (part.kind) {
    case 'text':
      return quote(part.text);
    case 'reasoning':
      return `thinks ${quote(part.text)}${part.signature === undefined ? '' : ' signed'}`;
    case 'call':
      return `calls ${part.tool}#${part.callId} ${quote(part.args)}`;
    case 'result':
      return `answers #${part.callId} ${part.content.map(partText).join(' + ')}`;
    case 'image':
    case 'file':
      return `${part.kind} ${quote(part.source)}`;
    case 'opaque':
      return `opaque ${part.type}`;
  }
}

/** A text in quotes on one line: whole if it is short, both ends and its length if it is long. */
function quote(text: string): string {
  if (text.length <= LONGEST) return JSON.stringify(text);
  const head = text.slice(0, LONGEST / 2).toWellFormed();
  const tail = text.slice(-LONGEST / 3).toWellFormed();
  return `${JSON.stringify(head)}…${JSON.stringify(tail)} (${text.length} chars)`;
}
