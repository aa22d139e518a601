import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';

/** Headers by which known clients name their conversations, the most specific first. */
const NAMING_HEADERS = [
  // Claude Code
  'x-claude-code-session-id',
  // Codex: a sub-agent has a thread of its own in the session.
  'thread-id',
  'session-id',
  'session_id',
  'conversation_id',
  // OpenCode
  'x-session-id',
] as const;

const LONGEST_NAME = 200;

/** The name that a client gives to the conversation of a request; undefined if it gives none. */
export function threadNameOf(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const own = nameFrom(decoded(headers['x-bobbin-thread']));
  if (own !== undefined) return own;
  for (const header of NAMING_HEADERS) {
    const name = nameFrom(headers[header]);
    if (name !== undefined) return name;
  }
  return claudeSession(body['metadata']) ?? codexKey(headers, body);
}

/** A name as the gateway's own header has it: a client may send back what it was sent. */
function decoded(given: unknown): unknown {
  if (typeof given !== 'string' || !given.includes('%')) return given;
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}

/** Claude Code puts its session into the user's id, as JSON or at the end of a text. */
function claudeSession(metadata: Json | undefined): string | undefined {
  const user = isJsonObject(metadata) ? metadata['user_id'] : undefined;
  if (typeof user !== 'string') return undefined;
  return /session(?:_id)?["_: ]+([0-9a-f]{8}-[0-9a-f-]{27})/i.exec(user)?.[1];
}

/** Other clients share one cache key between conversations; Codex has one for each. */
function codexKey(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const sender = `${String(headers['originator'] ?? '')} ${headers['user-agent'] ?? ''}`;
  return /codex/i.test(sender) ? nameFrom(body['prompt_cache_key']) : undefined;
}

/** Names are kept as they are given; a very long one by its hash. */
function nameFrom(given: unknown): string | undefined {
  if (typeof given !== 'string' || given === '') return undefined;
  if (!given.isWellFormed() || given.includes('\0')) return undefined;
  if (given.length <= LONGEST_NAME) return given;
  return createHash('sha256').update(given).digest('hex');
}
