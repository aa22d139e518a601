// The summaries that models wrote in recorded conversations, each with the messages before it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { textMessage, type Message, type ThreadId } from '@bobbin/core';
import { Thread, type Node } from '@bobbin/core/internal';

export interface RecordedAccount {
  readonly id: string;
  readonly nodes: readonly Node[];
  readonly summary: string;
}

interface RecordedMessage {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content?: string | null;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: unknown;
  }[];
  readonly toolCallId?: string;
}

interface RecordedConversation {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
  readonly meta?: {
    readonly compactions?: readonly { readonly afterMessage: number; readonly summary?: string }[];
  };
}

/** The recorded accounts in a folder; none where it is absent. */
export function recordedAccounts(folder: string): readonly RecordedAccount[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .flatMap((name) =>
      gunzipSync(readFileSync(join(folder, name)))
        .toString('utf8')
        .trim()
        .split('\n'),
    )
    .map((line) => JSON.parse(line) as RecordedConversation)
    .flatMap(accountsOf);
}

function accountsOf({ id, messages, meta }: RecordedConversation): readonly RecordedAccount[] {
  return (meta?.compactions ?? []).flatMap(({ afterMessage, summary }) =>
    summary === undefined
      ? []
      : [{ id: `${id}#${afterMessage}`, nodes: nodesOf(messages.slice(0, afterMessage)), summary }],
  );
}

function nodesOf(messages: readonly RecordedMessage[]): readonly Node[] {
  const thread = new Thread('recorded' as ThreadId);
  for (const message of messages) thread.append(decoded(message));
  return thread.path();
}

function decoded({ role, content, toolCalls = [], toolCallId = '' }: RecordedMessage): Message {
  const text = content ?? '';
  if (role === 'tool')
    return {
      role,
      parts: [{ kind: 'result', callId: toolCallId, content: [{ kind: 'text', text }] }],
    };
  const calls = toolCalls.map(({ id, name, args }) => ({
    kind: 'call' as const,
    callId: id,
    tool: name,
    args: JSON.stringify(args),
  }));
  return { ...textMessage(role, text), parts: [{ kind: 'text', text }, ...calls] };
}
