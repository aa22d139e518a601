import { textOf, type Fitted, type Message, type MessageId, type Session } from '@bobbin/core';
import { resultsOf, resultText, type PromptMessage, jsonText } from '@bobbin/core/internal';
import { sessionEntries } from '../session-entries.ts';
import {
  isTool,
  withOutput,
  wordsOf,
  writtenInfo,
  writtenPart,
  type OpenCodeMessage,
} from './message.ts';

/** The host's messages, what they say, and which of them says what. */
export interface Listed {
  readonly host: readonly OpenCodeMessage[];
  readonly messages: readonly Message[];
  /** By message, the host's message that it is of. */
  readonly owners: readonly number[];
}

export function listOf(host: readonly OpenCodeMessage[]): Listed {
  const text = jsonText({ info: { id: host[0]?.info.sessionID }, messages: host });
  const entries = sessionEntries('opencode', text);
  return {
    host: [...host],
    messages: entries.flatMap(({ messages }) => messages),
    owners: entries.flatMap(({ messages }, i) => messages.map(() => i)),
  };
}

/** A fitted prompt in the host's messages. */
export class Shown {
  readonly #listed: Listed;
  readonly #owners = new Map<MessageId, number>();

  constructor(listed: Listed, session: Session) {
    this.#listed = listed;
    const start = session.length - listed.owners.length;
    for (const [i, owner] of listed.owners.entries()) {
      const node = session.at(start + i);
      if (node !== undefined) this.#owners.set(node.id, owner);
    }
  }

  messages({ prompt }: Fitted<Message>): OpenCodeMessage[] {
    const shown: OpenCodeMessage[] = [...this.#silentFrom(0)];
    let run: PromptMessage[] = [];
    for (const [i, each] of prompt.messages.entries()) {
      run.push(each);
      const owner = this.#ownerOf(each);
      const next = prompt.messages[i + 1];
      if (owner !== undefined && next !== undefined && this.#ownerOf(next) === owner) continue;
      if (owner === undefined) shown.push(...this.#written(each.message, i));
      else shown.push(...this.#said(owner, run), ...this.#silentFrom(owner + 1));
      run = [];
    }
    return shown;
  }

  /** The host's message that a message is of. A result that is shown as the user's text is of none: its call is gone. */
  #ownerOf({ source, message }: PromptMessage): number | undefined {
    if (source.kind !== 'kept' && source.kind !== 'changed') return undefined;
    const owner = this.#owners.get(source.id);
    const host = this.#listed.host[owner ?? -1];
    return message.role === 'user' && host?.info.role !== 'user' ? undefined : owner;
  }

  /** The host's messages from one on that say nothing to the model: they stay after the message that they follow. */
  #silentFrom(from: number): readonly OpenCodeMessage[] {
    const { host, owners } = this.#listed;
    const next = owners.find((owner) => owner >= from) ?? host.length;
    return host.slice(from, next);
  }

  /** A message of the host: the same object if all of it is kept, otherwise what the prompt shows of it. */
  #said(owner: number, run: readonly PromptMessage[]): readonly OpenCodeMessage[] {
    const host = this.#listed.host[owner];
    if (host === undefined) return [];
    const whole = this.#listed.messages.filter((_, i) => this.#listed.owners[i] === owner);
    const isWhole =
      run.length === whole.length && run.every(({ source }) => source.kind === 'kept');
    const now = run.map(({ message }) => message);
    return [isWhole ? host : retold(host, whole, now)];
  }

  /** A message without a speaker, in the form of a real one of its role. */
  #written(message: Message, at: number): readonly OpenCodeMessage[] {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const { host } = this.#listed;
    const like = host.find(({ info }) => info.role === role) ?? host[0];
    const text = textOf(message);
    if (like === undefined || text === '') return [];
    const info = writtenInfo(like.info, role, `msg_bobbin_${at}`);
    return [{ info, parts: [writtenPart(info, text, 0)] }];
  }
}

/** The parts of a host's message that its shown messages still hold, outputs and texts as the plan made them. */
function retold(
  host: OpenCodeMessage,
  before: readonly Message[],
  now: readonly Message[],
): OpenCodeMessage {
  const calls = new Set(now.flatMap(({ parts }) => parts.map(callIdOf)));
  const outputs = new Map(now.flatMap(resultsOf).map((each) => [each.callId, resultText(each)]));
  const gone = difference(textsOf(before), textsOf(now));
  const written = difference(textsOf(now), textsOf(before)).map((text, i) =>
    writtenPart(host.info, text, i),
  );
  const parts = host.parts.flatMap((part) => {
    if (isTool(part))
      return calls.has(part.callID) ? [withOutput(part, outputs.get(part.callID))] : [];
    const words = wordsOf(part);
    const at = words === undefined ? -1 : gone.indexOf(words);
    if (at < 0) return [part];
    gone.splice(at, 1);
    return part.type === 'reasoning' ? [] : written.splice(0, 1);
  });
  return { ...host, parts: [...parts, ...written] };
}

function callIdOf(part: Message['parts'][number]): string | undefined {
  return part.kind === 'call' ? part.callId : undefined;
}

function textsOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => ('text' in part ? [part.text] : [])),
  );
}

/** What a list has more often than another. */
function difference(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return list.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
