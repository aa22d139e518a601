import assert from 'node:assert/strict';
import type { Message } from '@bobbin/core';
import { recogniseSession, type Session } from '@bobbin/codecs';

/** A session that is recognised as what it is. */
export function decoded(text: string, format: string): Session {
  const found = recogniseSession(text);
  assert.equal(found?.name, format);
  return found.decode(text);
}

export function linesOf(...lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** One line for each message: who, what, and how it is marked. */
export function shortLines(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => {
    const parts = message.parts.map((part) =>
      part.kind === 'text' || part.kind === 'reasoning'
        ? `${part.kind}:${part.text}`
        : part.kind === 'call' || part.kind === 'result'
          ? `${part.kind}:${part.callId}`
          : part.kind,
    );
    return `${message.role} ${parts.join(' ')}${message.meta?.synthetic === true ? ' (synthetic)' : ''}`;
  });
}
