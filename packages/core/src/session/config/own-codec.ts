import { jsonText, parseJson } from '../../message/json.ts';
import type { Codec, ToolDefinition } from '../../ports.ts';
import type { Message } from '../../message/message.ts';

/**
 * Bobbin's own messages, unchanged. A host that passes others, and has no types, gets an error that says what to pass.
 */
export const OWN_CODEC: Codec<Message, ToolDefinition, Message> = {
  name: 'bobbin',
  decode(messages, before = []) {
    for (const [i, message] of messages.entries()) {
      const problem = problemOf(message);
      if (problem !== undefined)
        throw new TypeError(
          `messages[${before.length + i}] is not one of Bobbin's own, it ${problem}: pass the codec of your format, such as codec: openaiChat of bobbin/openai`,
        );
    }
    return messages;
  },
  encode: (messages) => messages,
  tools: {
    tool: (definition) => definition,
    call(call) {
      const { kind, callId, tool, args } = (call ?? {}) as Readonly<Record<string, unknown>>;
      if (kind !== 'call' || typeof callId !== 'string' || typeof tool !== 'string')
        return undefined;
      return { callId, tool, args: typeof args === 'string' ? parseJson(args) : args };
    },
    result: ({ callId, tool }, text) => ({
      role: 'tool',
      parts: [{ kind: 'result', callId, tool, content: [{ kind: 'text', text }] }],
    }),
  },
};

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

function problemOf(given: unknown): string | undefined {
  const { role, parts } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(parts)) return 'has no parts';
  const part = parts.findIndex((each) => !isPart(each));
  if (part >= 0) return `has parts[${part}] which is no part: ${shown(parts[part])}`;
  if (ROLES.has(role)) return undefined;
  return `has the role ${JSON.stringify(role)}, not system, user, assistant or tool`;
}

/** What each kind of part must have for anybody to count and show it. */
const NEEDED: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['call', ['callId', 'tool', 'args']],
  ['result', ['callId']],
  ['image', ['source']],
  ['file', ['source']],
  ['opaque', ['type']],
]);

function isPart(part: unknown): boolean {
  const fields = (part ?? {}) as Readonly<Record<string, unknown>>;
  const needed = NEEDED.get(fields['kind']);
  if (needed === undefined || needed.some((name) => typeof fields[name] !== 'string')) return false;
  const { kind, content } = fields;
  return kind !== 'result' || (Array.isArray(content) && content.every(isPart));
}

const SHOWN_CHARS = 80;

function shown(value: unknown): string {
  const text = jsonText(value) ?? String(value);
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
