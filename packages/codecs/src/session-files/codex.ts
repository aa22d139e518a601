import { textMessage, type Message, type Role } from '@bobbin/core';
import {
  isJsonObject,
  type JsonObject,
  type MessageMeta,
  jsonText,
  lastOf,
  reversed,
} from '@bobbin/core/internal';
import { DecodeError } from '../wire/decode-error.ts';
import { KnownCalls } from '../wire/known-calls.ts';
import { decodeResponsesItem } from '../openai/responses.ts';
import type { Place } from '../wire/place.ts';
import {
  encodeJsonLines,
  firstLines,
  jsonLines,
  textField,
  timeField,
  tokenCount,
} from './json-lines.ts';
import type { Session, SessionCompaction, SessionFormat, SessionHeader } from './session.ts';

/**
 * Rollouts of Codex: a line for each item of the Responses API, and events between them. A compaction holds the items
 * that it leaves; older ones hold a summary, before which Codex puts the newest user messages.
 */
export const codexSession: SessionFormat = {
  name: 'codex',
  recognises: (text) => firstLines(text, 1)[0]?.['type'] === 'session_meta',
  decode(text) {
    const places = jsonLines(text);
    const [meta] = places;
    if (meta?.at('type').value !== 'session_meta')
      throw new DecodeError('line 1', 'must be the session_meta of a Codex rollout');
    const rollout = new Rollout();
    for (const place of places) rollout.take(place);
    return rollout.session(headerOf(meta.at('payload')));
  },
  encode: encodeJsonLines,
};

/** What is known from the lines of a rollout so far. */
class Rollout {
  readonly #calls = new KnownCalls();
  readonly #wires: JsonObject[] = [];
  /** The messages of each line, by its number; later events may add to the last ones. */
  readonly #messages: { readonly line: number; message: Message }[] = [];
  readonly #compactions: SessionCompaction[] = [];
  #leaves: readonly Message[] = [];
  #model: string | undefined;

  take(place: Place): void {
    const line = this.#wires.push(place.object()) - 1;
    const payload = place.at('payload');
    switch (place.at('type').text()) {
      case 'response_item': {
        const meta = {
          ...timeField(place.at('timestamp').value),
          ...textField('model', this.#model),
        };
        const message = { ...decodeResponsesItem(payload, this.#calls), meta };
        this.#messages.push({ line, message });
        return;
      }
      case 'turn_context':
        this.#model = payload.at('model').optionalText() ?? this.#model;
        return;
      case 'compacted':
        return this.#compact(place, payload);
      case 'event_msg':
        return this.#notice(payload);
    }
  }

  session(header: SessionHeader): Session {
    const messages = this.#messages.map(({ message }) => message);
    const compaction = this.#compactions.at(-1);
    const byLine = new Map<number, Message[]>();
    for (const { line, message } of this.#messages)
      byLine.set(line, [...(byLine.get(line) ?? []), message]);
    return {
      format: 'codex',
      header: this.#model === undefined ? header : { ...header, model: this.#model },
      entries: this.#wires.map((original, line) => ({
        original,
        messages: byLine.get(line) ?? [],
      })),
      messages,
      compactions: this.#compactions,
      context: [...this.#leaves, ...messages.slice(compaction?.after ?? 0)],
    };
  }

  /** Events say what the answer of the turn cost, and that it was broken off. */
  #notice(payload: Place): void {
    const type = payload.at('type').value;
    const last = lastOf(this.#messages, ({ message: { role } }) => SPEAKERS.has(role));
    if (last?.message.role !== 'assistant') return;
    const { meta } = last.message;
    if (type === 'turn_aborted') this.#describe(last, { ...meta, status: 'aborted' });
    const info = payload.at('info').value;
    const usage = isJsonObject(info) ? info['last_token_usage'] : undefined;
    if (type !== 'token_count' || meta?.usage !== undefined || !isJsonObject(usage)) return;
    const cached = tokenCount(usage['cached_input_tokens']);
    this.#describe(last, {
      ...meta,
      usage: {
        inputTokens: tokenCount(usage['input_tokens']) - cached,
        outputTokens: tokenCount(usage['output_tokens']),
        cacheReadTokens: cached,
        cacheWriteTokens: 0,
      },
    });
  }

  #describe(entry: { message: Message }, meta: MessageMeta): void {
    entry.message = { ...entry.message, meta };
  }

  #compact(place: Place, payload: Place): void {
    const summary = payload.at('message').optionalText() ?? '';
    const time = timeField(place.at('timestamp').value);
    const after = this.#messages.length;
    this.#leaves = payload.has('replacement_history')
      ? payload
          .at('replacement_history')
          .list()
          .map((item) => decodeResponsesItem(item, this.#calls))
      : [...this.#newestUserMessages(), textMessage('user', summary, { ...time, synthetic: true })];
    this.#compactions.push({ summary, after, firstKept: after, received: this.#leaves, ...time });
  }

  #newestUserMessages(): readonly Message[] {
    const users = this.#messages.filter(({ message }) => message.role === 'user');
    let left = USER_CHARS;
    const kept = reversed(users).filter(({ message }) => {
      left -= jsonText(message.parts).length;
      return left >= 0;
    });
    return reversed(kept).map(({ message }) => message);
  }
}

const SPEAKERS = new Set<Role>(['user', 'assistant']);

/** Codex keeps 20 000 tokens of what the user said, at four characters each. */
const USER_CHARS = 80_000;

function headerOf(payload: Place): SessionHeader {
  const wire = payload.object();
  return {
    id: payload.at('id').text(),
    ...timeField(wire['timestamp']),
    ...textField('cwd', wire['cwd']),
    ...textField('version', wire['cli_version']),
  };
}
