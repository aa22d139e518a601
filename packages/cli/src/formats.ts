import {
  aiSdk,
  anthropic,
  openaiChat,
  openaiResponses,
  SESSION_FORMATS,
  type SessionFormat,
} from '@bobbin/codecs';
import type { Codec } from '@bobbin/core';

/** Lists of messages, as providers take them. */
export const MESSAGE_FORMATS = {
  openai: openaiChat as Codec<unknown>,
  'openai-responses': openaiResponses as Codec<unknown>,
  anthropic: anthropic as Codec<unknown>,
  'ai-sdk': aiSdk as Codec<unknown>,
} satisfies Record<string, Codec<unknown>>;

type MessageFormat = keyof typeof MESSAGE_FORMATS;

/** What the prompt of a harness's session is written in: the format of the provider that the harness talks to. */
const SPOKEN: Readonly<Record<string, MessageFormat>> = {
  'claude-code': 'anthropic',
  codex: 'openai-responses',
};

/** Session files of harnesses, by name. */
const SESSIONS: ReadonlyMap<string, SessionFormat> = new Map(
  SESSION_FORMATS.map((format) => [format.name, format]),
);

/** Every name that a user may give; `auto` looks at the text. */
export const FORMATS: Readonly<Record<string, unknown>> = {
  auto: undefined,
  ...MESSAGE_FORMATS,
  ...Object.fromEntries(SESSIONS),
};

/** The session format of a text: the one asked for, or the one that is recognised. */
export function sessionFormat(format: string, text: string): SessionFormat | undefined {
  if (format !== 'auto') return SESSIONS.get(format);
  return SESSION_FORMATS.find((candidate) => candidate.recognises(text));
}

/** How the messages of a session are written out. */
export function sessionCodec({ name }: SessionFormat): Codec<unknown> {
  return MESSAGE_FORMATS[SPOKEN[name] ?? 'openai'];
}

/** The format of a list of messages: the one asked for, or the first whose signs are seen. */
export function messageFormat(format: string, messages: readonly unknown[]): MessageFormat {
  if (Object.hasOwn(MESSAGE_FORMATS, format)) return format as MessageFormat;
  const seen = messages.flatMap(typesOf);
  const sign = SIGNS.find(([, types]) => seen.some((type) => types.includes(type)));
  return sign?.[0] ?? 'openai';
}

/** Every role that one of the formats knows. */
export const ROLES: readonly string[] = [
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
  'function',
];

/** The role of a message, where it has one: not every item of every format does. */
export function roleOf(message: unknown): string | undefined {
  const { role } = fields(message);
  return typeof role === 'string' ? role : undefined;
}

/** Types of parts or items that only one format has. */
const SIGNS: readonly (readonly [MessageFormat, readonly string[]])[] = [
  ['anthropic', ['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'document']],
  ['ai-sdk', ['tool-call', 'tool-result', 'reasoning-file']],
  [
    'openai-responses',
    ['function_call', 'function_call_output', 'reasoning', 'input_text', 'output_text'],
  ],
];

function typesOf(message: unknown): readonly string[] {
  const { type, content } = fields(message);
  const parts = Array.isArray(content) ? content : [];
  return [type, ...parts.map((part) => fields(part)['type'])].filter(
    (found) => typeof found === 'string',
  );
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
