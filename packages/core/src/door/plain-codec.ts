import type { Codec } from '../ports.ts';
import type { Message } from '../thread/message.ts';

/** Bobbin's own messages, as they are. A host that has others, and no types to tell it, learns what to pass. */
export const PLAIN: Codec<Message> = {
  name: 'bobbin',
  decode(messages, before = []) {
    for (const [i, message] of messages.entries()) {
      const problem = problemOf(message);
      if (problem !== undefined)
        throw new TypeError(
          `messages[${before.length + i}] is not one of Bobbin's own, it ${problem}: pass the codec of your format, such as codec: openaiChat of @bobbin/codecs`,
        );
    }
    return messages;
  },
  encode: (messages) => messages,
};

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

function problemOf(given: unknown): string | undefined {
  const { role, parts } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(parts)) return 'has no parts';
  if (!parts.every(isPart)) return 'has a part without a kind';
  if (ROLES.has(role)) return undefined;
  return `has the role ${JSON.stringify(role)}, not system, user, assistant or tool`;
}

function isPart(part: unknown): boolean {
  return typeof (part as { readonly kind?: unknown } | null)?.kind === 'string';
}
