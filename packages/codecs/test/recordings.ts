import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from '@bobbin/core/internal';
import { RECORDED } from '@bobbin/testing/recorded';

/** A message as the recordings have it, whichever harness it came from. */
export interface RecordedMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content?: string | null;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: Json;
  }[];
  readonly toolCallId?: string;
  readonly toolName?: string;
}

export interface Recording {
  readonly id: string;
  readonly messages: readonly RecordedMessage[];
}

function filesIn(folder: string): readonly URL[] {
  const url = new URL(`${folder}/`, RECORDED);
  return readdirSync(url)
    .toSorted()
    .map((name) => new URL(name, url));
}

function textIn(file: URL): string {
  return gunzipSync(readFileSync(file)).toString('utf8');
}

let loaded: readonly Recording[] | undefined;

/** Every recorded conversation, or the first of each `step`. */
export function recordings(step = 1): readonly Recording[] {
  loaded ??= filesIn('transcripts')
    .flatMap((file) => textIn(file).trim().split('\n'))
    .map((line) => JSON.parse(line) as Recording);
  return loaded.filter((_, i) => i % step === 0);
}

export interface SessionSample {
  readonly name: string;
  readonly text: string;
}

export function sessionSamples(): readonly SessionSample[] {
  return filesIn('session-files').map((file) => ({
    name: file.pathname.replace(/^.*\//, '').replace(/\.gz$/, ''),
    text: textIn(file),
  }));
}
