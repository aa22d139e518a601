import {
  aiSdk,
  anthropic,
  bedrock,
  DecodeError,
  detectFormat,
  gemini,
  openaiChat,
  openaiResponses,
  recogniseSession,
  SESSION_FORMATS,
  type SessionFormat,
} from '@bobbin/codecs';
import type { Codec, Message } from '@bobbin/core';

/** Lists of messages, as providers take them. */
export const MESSAGE_FORMATS = {
  openai: openaiChat as Codec<unknown>,
  'openai-responses': openaiResponses as Codec<unknown>,
  anthropic: anthropic as Codec<unknown>,
  'ai-sdk': aiSdk as Codec<unknown>,
  gemini: gemini as Codec<unknown>,
  bedrock: bedrock as Codec<unknown>,
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

/** Every name that a user may give; `auto` detects the format from the text. */
export const FORMATS: Readonly<Record<string, unknown>> = {
  auto: undefined,
  ...MESSAGE_FORMATS,
  ...Object.fromEntries(SESSIONS),
};

/** The session format of a text: the one asked for, or the one that is recognised. */
export function sessionFormat(format: string, text: string): SessionFormat | undefined {
  return format === 'auto' ? recogniseSession(text) : SESSIONS.get(format);
}

/** How the messages of a session are written out: Bobbin's own hold what any provider takes. */
export function sessionCodec(
  { name }: SessionFormat,
  messages: readonly Message[],
): Codec<unknown> {
  if (name !== 'bobbin') return MESSAGE_FORMATS[SPOKEN[name] ?? 'openai'];
  const wire = messages.flatMap(({ original }) => original ?? []);
  return MESSAGE_FORMATS[messageFormat('auto', wire)];
}

/**
 * The format of a list of messages: the one asked for, or the one that is recognised.
 * @throws DecodeError if it is one that the command cannot read.
 */
export function messageFormat(format: string, messages: readonly unknown[]): MessageFormat {
  if (Object.hasOwn(MESSAGE_FORMATS, format)) return format as MessageFormat;
  const detected = detectFormat(messages);
  const found = Object.entries(MESSAGE_FORMATS).find(([, { name }]) => name === detected?.name);
  if (found === undefined && detected !== undefined)
    throw new DecodeError('messages', `are messages of ${detected.title}: use ${detected.use}`);
  return (found?.[0] ?? 'openai') as MessageFormat;
}

/** The option that reads messages which the codec of another format has refused; undefined if there is none. */
export function optionFor(messages: readonly unknown[]): string | undefined {
  const detected = detectFormat(messages)?.name;
  const [name] = Object.entries(MESSAGE_FORMATS).find(([, codec]) => codec.name === detected) ?? [];
  return name === undefined ? undefined : `--format ${name}`;
}

/** Every role that one of the formats knows. */
export const ROLES: readonly string[] = [
  'system',
  'developer',
  'user',
  'assistant',
  'model',
  'tool',
  'function',
];

/** The role of a message, if it has one: not every item of every format does. */
export function roleOf(message: unknown): string | undefined {
  const { role } = fields(message);
  return typeof role === 'string' ? role : undefined;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
