import type { Message, Part } from '@bobbin/core';
import { hasResults, type ContentPart, type Json } from '@bobbin/core/internal';
import { splitCompactions, withoutCompactions } from './wire/compaction.ts';
import { readableJson } from './wire/readable.ts';
import { serverToolsAsText } from './wire/server-tool.ts';

/**
 * Messages for another codec than the one that decoded them: without their wire form, without the thoughts and fields
 * that only their own provider takes, with each answer in one message and call ids that are not used twice.
 */
export function portable(messages: readonly Message[]): readonly Message[] {
  const ids = new CallIds();
  const carried: Message[] = [];
  for (const source of messages) {
    const { role, meta } = source;
    const [compactions] = splitCompactions(source.extra);
    const parts = withoutCompactions(serverToolsAsText(source));
    const kept = [
      ...compactions.map((wire) => textOfValue('compaction', wire)),
      ...parts.flatMap((part) => portablePart(part, ids)),
    ];
    if (kept.length === 0) continue;
    const message: Message = { role, parts: kept, ...(meta === undefined ? {} : { meta }) };
    const last = carried.at(-1);
    if (last !== undefined && isOneAnswer(last, message))
      carried[carried.length - 1] = { ...message, parts: [...last.parts, ...kept] };
    else carried.push(message);
  }
  return carried;
}

/** Assistant messages that follow one another are the blocks of one answer, until its calls are answered. */
function isOneAnswer(last: Message, next: Message): boolean {
  const isSynthetic = last.meta?.synthetic === true || next.meta?.synthetic === true;
  return (
    last.role === 'assistant' && next.role === 'assistant' && !hasResults(last) && !isSynthetic
  );
}

function portablePart(part: Part, ids: CallIds): readonly Part[] {
  switch (part.kind) {
    case 'reasoning':
      return [];
    case 'call':
      return [{ ...part, callId: ids.called(part.callId) }];
    case 'result':
      return [
        { ...part, callId: ids.answered(part.callId), content: part.content.map(portableContent) },
      ];
    case 'text':
      return part.text === '' ? [] : [part];
    case 'image':
    case 'file':
    case 'opaque':
      return [portableContent(part)];
  }
}

/** What only one provider understands can be said to the others as text. */
function portableContent(part: ContentPart): ContentPart {
  return part.kind === 'opaque' ? textOfValue(part.type, part.value) : part;
}

function textOfValue(type: string, value: Json): ContentPart {
  return { kind: 'text', text: `[${type}] ${readableJson(value)}` };
}

/** Some harnesses use a call id again; some providers refuse that. */
class CallIds {
  readonly #uses = new Map<string, number>();
  readonly #open = new Map<string, string[]>();

  called(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const unique = uses === 1 ? id : `${id}-${uses}`;
    this.#open.set(id, [...(this.#open.get(id) ?? []), unique]);
    return unique;
  }

  answered(id: string): string {
    return this.#open.get(id)?.shift() ?? id;
  }
}
