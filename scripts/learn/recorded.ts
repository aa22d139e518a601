import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Message, Part } from '@bobbin/core';

/** A conversation as it was recorded: one JSON object a line of a file. */
export interface Recorded {
  readonly id: string;
  readonly source: string;
  readonly messages: readonly Message[];
  /** Where its harness compacted: the messages before were gone from then on. */
  readonly compactedAt: readonly number[];
  /** All of its harness's compactions, with the summary that the model wrote. */
  readonly compactions: readonly { readonly after: number; readonly summary: string }[];
}

interface Line {
  readonly id: string;
  readonly messages: readonly LineMessage[];
  readonly meta?: {
    readonly compactions?: readonly { readonly afterMessage: number; readonly summary?: string }[];
  };
}

interface LineMessage {
  readonly role: Message['role'];
  readonly content?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: unknown;
  }[];
  readonly toolCallId?: string;
}

const EARLIEST_COMPACTION = 10;

/** The conversations of a folder of `.jsonl` and `.jsonl.gz` files, source by source. */
export function* recordedIn(folder: string): Iterable<Recorded> {
  for (const name of readdirSync(folder).toSorted()) {
    if (!/\.jsonl(?:\.gz)?$/.test(name)) continue;
    const bytes = readFileSync(join(folder, name));
    const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const [source = name] = name.split('.');
    for (const line of text.split('\n'))
      if (line !== '') yield recorded(JSON.parse(line) as Line, source);
  }
}

/** A digest of the conversations of a folder. */
export function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).toSorted())
    if (/\.jsonl(?:\.gz)?$/.test(name)) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}

function recorded({ id, messages, meta }: Line, source: string): Recorded {
  const compactedAt = (meta?.compactions ?? [])
    .filter(({ afterMessage, summary }) => summary && afterMessage > EARLIEST_COMPACTION)
    .map(({ afterMessage }) => afterMessage);
  const compactions = (meta?.compactions ?? []).flatMap(({ afterMessage: after, summary }) =>
    summary === undefined ? [] : [{ after, summary }],
  );
  return { id, source, messages: messages.map(message), compactedAt, compactions };
}

function message({ role, content = '', toolCalls = [], toolCallId }: LineMessage): Message {
  const text = { kind: 'text', text: content ?? '' } as const;
  if (role === 'tool')
    return { role, parts: [{ kind: 'result', callId: toolCallId ?? '', content: [text] }] };
  const calls = toolCalls.map(({ id, name, args }): Part => ({
    kind: 'call',
    callId: id,
    tool: name,
    args: JSON.stringify(args),
  }));
  return { role, parts: text.text === '' ? calls : [text, ...calls] };
}

/** True for the third of all conversations that is kept aside: by a hash of the id, so that it is always the same. */
export function isHeldOut({ id }: { readonly id: string }): boolean {
  let hash = 2166136261;
  for (const char of id) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619) >>> 0;
  return hash % 3 === 0;
}
