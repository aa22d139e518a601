import type { Message } from '@bobbin/core';
import type { JsonObject } from '@bobbin/core/internal';

/** A line of a session file, or a message of an export, with the messages that it became. */
export interface SessionEntry {
  readonly original: JsonObject;
  /** None for what is not a message (settings, events, snapshots) and for what the user hid from the model. */
  readonly messages: readonly Message[];
}

/** A compaction that the harness made itself. */
export interface SessionCompaction {
  /** Its summary; empty if only the provider can read it. */
  readonly summary: string;
  /** How many of the session's messages came before it. */
  readonly after: number;
  /** The first of those messages that stayed as it was; `after` if none did. */
  readonly firstKept: number;
  /** What the agent was given in place of the messages before, if that is more than the summary and the kept messages. */
  readonly received?: readonly Message[];
  readonly time?: number;
  readonly tokensBefore?: number;
}

export interface SessionHeader {
  readonly id: string;
  readonly time?: number;
  readonly cwd?: string;
  readonly model?: string;
  /** The version of the file's format or of the tool that wrote it, as the file says. */
  readonly version?: string;
}

/** What a session file says. */
export interface Session {
  readonly format: string;
  readonly header: SessionHeader;
  /** The file itself, forks and sub-agents included: it is encoded from this. */
  readonly entries: readonly SessionEntry[];
  /**
   * The conversation that was talked on last, whole, as if nothing had been compacted: all that the model was sent, as
   * the user edited it.
   */
  readonly messages: readonly Message[];
  readonly compactions: readonly SessionCompaction[];
  /** What the harness would send: the last summary, marked as synthetic, what it kept, and all that came later. */
  readonly context: readonly Message[];
}

/**
 * A harness's session files. If they hold a provider's own messages, these are the `original` of the messages, and that
 * provider's codec encodes them as they came; otherwise any codec encodes them.
 */
export interface SessionFormat {
  readonly name: string;
  /** True if a text is such a file, judged by its beginning. */
  recognises(text: string): boolean;
  /** Throws a `DecodeError` if it is not. */
  decode(text: string): Session;
  /** The file again, as equal JSON. */
  encode(session: Session): string;
}
