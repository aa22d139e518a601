import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Codec } from '@bobbin/core';
import { isSummary } from '@bobbin/core/internal';
import {
  anthropic,
  anthropicProblems,
  openaiResponses,
  openaiResponsesProblems,
  portable,
  recogniseSession,
  SESSION_FORMATS,
} from '@bobbin/codecs';
import { checkedFit } from './fit-check.ts';
import { withoutRecorded } from '@bobbin/testing/recorded';
import { isSoak, volume } from '@bobbin/testing/volume';
import { sessionSamples } from './recordings.ts';
import { decoded, linesOf } from './session-text.ts';

const skip = withoutRecorded('session-files');
const WINDOWS = isSoak() ? [8_000, 32_000, 120_000] : [32_000];
const SAMPLE_STEP = volume(6, 1);

function jsonOf(text: string): unknown {
  const lines = text.trim().split('\n');
  return text.startsWith('{\n') || lines.length === 1
    ? (JSON.parse(text) as unknown)
    : lines.map((line) => JSON.parse(line) as unknown);
}

test('B8 every session file is recognised, and encoded to equal JSON', { skip }, () => {
  for (const { name, text } of sessionSamples()) {
    const format = recogniseSession(text);
    assert.equal(name.startsWith(format?.name ?? 'none'), true, name);
    assert.ok(format);
    assert.deepEqual(jsonOf(format.encode(format.decode(text))), jsonOf(text), name);
  }
});

/** How many entries and messages each sample holds, what is in its context, and the compactions inside it. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  'claude-code-1.jsonl': [
    753,
    662,
    44,
    [
      [308, 308, 156_912],
      [619, 619, 155_454],
    ],
  ],
  'claude-code-2.jsonl': [195, 91, 91, []],
  'claude-code-3.jsonl': [97, 48, 48, []],
  'codex-1.jsonl': [1732, 916, 271, [[710, 710, undefined]]],
  'codex-2.jsonl': [134, 69, 69, []],
  'opencode-1.json': [69, 132, 132, []],
  'pi-before-compaction.jsonl': [
    1003,
    990,
    446,
    [
      [354, 288, 175_004],
      [622, 545, 185_014],
    ],
  ],
  'pi-large-session.jsonl': [1019, 914, 914, []],
};

test('B8 real session files hold what their harness wrote into them', { skip }, () => {
  for (const { name, text } of sessionSamples()) {
    const session = recogniseSession(text)?.decode(text);
    assert.ok(session);
    const { entries, messages, context, compactions } = session;
    assert.deepEqual(
      [
        entries.length,
        messages.length,
        context.length,
        compactions.map(({ after, firstKept, tokensBefore }) => [after, firstKept, tokensBefore]),
      ],
      SAMPLES[name],
      name,
    );
    assert.ok(
      context.every(
        (message) => message.meta?.status !== 'error' || session.format !== 'claude-code',
      ),
    );
    assert.ok(
      messages.every((message) => !isSummary(message)),
      'a summary is no message of the session',
    );
    assert.ok(
      messages.some(({ meta }) => meta?.usage !== undefined),
      name,
    );
    assert.ok(session.header.id !== '' && session.header.model !== undefined, name);
  }
});

/** Whose models the samples were made with. */
const ANTHROPIC_SAMPLE = /^(?:claude-code|pi)/;

test('B8 real sessions, compacted, are valid for their provider', { skip }, async () => {
  for (const { name, text } of sessionSamples().filter((_, i) => i % SAMPLE_STEP === 0)) {
    const session = recogniseSession(text)?.decode(text);
    assert.ok(session);
    const isOwn = session.format === 'claude-code' || session.format === 'codex';
    const messages = isOwn ? session.messages : portable(session.messages);
    const isAnthropic = ANTHROPIC_SAMPLE.test(name);
    const codec: Codec<object> = isAnthropic ? anthropic : openaiResponses;
    const problems = (wire: readonly object[]): readonly string[] =>
      isAnthropic ? anthropicProblems({ messages: wire }) : openaiResponsesProblems(wire);
    const wire = codec.encode(messages);
    for (const windowTokens of WINDOWS) await checkedFit(codec, wire, windowTokens, problems);
  }
});

test('B8 a last line that a dead writer left is as if it were not there; any other is refused', () => {
  const header = { type: 'session', version: 3, id: 's1', cwd: '/' };
  const text = `${linesOf(header)}{"type":"mess`;
  assert.equal(decoded(text, 'pi').entries.length, 1);
  const [bobbin, pi, claude, codex, opencode] = SESSION_FORMATS;
  const refused: [string, (() => unknown) | undefined][] = [
    ['line 2: must be a JSON object', () => pi?.decode(`${linesOf(header)}{"type"\n`)],
    ['line 2: must be a JSON object', () => pi?.decode(`${linesOf(header)}[1]`)],
    ['line 1: must be the header of a pi session', () => pi?.decode('')],
    [
      'line 2.message.role: must be a string, is absent',
      () => pi?.decode(linesOf(header, { type: 'message', id: 'a', message: {} })),
    ],
    ['line 1: must be the header of a Bobbin session', () => bobbin?.decode(linesOf(header))],
    ['line 1: must be a line of a Claude Code session', () => claude?.decode('{}')],
    ['line 1: must be the session_meta of a Codex rollout', () => codex?.decode('{}')],
    [
      'export: must be an object with the info and the messages of a session',
      () => opencode?.decode('[]'),
    ],
  ];
  for (const [message, decode] of refused)
    assert.throws(decode ?? ((): void => {}), { name: 'DecodeError', message });
  assert.equal(recogniseSession('[{"role":"user","content":"a"}]'), undefined);
});
