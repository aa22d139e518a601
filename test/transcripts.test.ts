import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { BobbinOptions, Message } from '@bobbin/core';
import {
  ALTERNATING_RULES,
  ANTHROPIC_RULES,
  chars4,
  estimator,
  messagesOnly,
  OPENAI_RULES,
  PRESETS,
  STRICT_RULES,
  type PresetName,
} from '@bobbin/core/internal';
import { assistant, call, result, system, user, WatchedThread } from '@bobbin/testing';
import { RECORDED, withoutRecorded } from '@bobbin/testing/recorded';
import { volume } from '@bobbin/testing/volume';

const FOLDER = fileURLToPath(new URL('transcripts', RECORDED));

interface Recorded {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly args: unknown;
  }[];
  readonly toolCallId?: string;
  readonly toolName?: string;
}

interface Conversation {
  readonly id: string;
  readonly messages: readonly Recorded[];
}

const RULES = [STRICT_RULES, OPENAI_RULES, ANTHROPIC_RULES, ALTERNATING_RULES];
const SHARES = [0.1, 0.25, 0.6];
const LEAST_TOKENS = 1_500;
/** How often a prompt is asked for on the way. */
const PROMPTS = 3;

/** Of so many conversations one is compacted. */
const STEP = volume(120, 1);

const skip = withoutRecorded('transcripts');
if (skip !== false) {
  test('recorded conversations are compacted to valid prompts', { skip });
} else {
  for (const [i, name] of readdirSync(FOLDER).toSorted().entries())
    test(`conversations of ${name} are compacted to valid prompts`, async (t) => {
      const conversations = read(join(FOLDER, name));
      let compactions = 0;
      for (const [j, conversation] of conversations.entries())
        compactions += await compacted(conversation, i + j * STEP);
      t.diagnostic(`${conversations.length} conversations, ${compactions} compactions`);
      assert.ok(compactions > 0);
    });
}

/** Gives a conversation to a session twice, with presets, budgets and rules in turn. */
async function compacted({ id, messages }: Conversation, turn: number): Promise<number> {
  const decoded = messages.map(toMessage);
  let compactions = 0;
  for (const [i, share] of [turn, turn + 1].map((n) => SHARES[n % SHARES.length] ?? 1).entries()) {
    try {
      compactions += await talk(decoded, share, turn * 2 + i);
    } catch (error) {
      throw new Error(`${id} with a share of ${share}`, { cause: error });
    }
  }
  return compactions;
}

async function talk(messages: readonly Message[], share: number, turn: number): Promise<number> {
  const presets = Object.keys(PRESETS) as PresetName[];
  const counter = turn % 2 === 0 ? chars4() : estimator();
  const tokens = Math.max(LEAST_TOKENS, Math.floor(counter.request({ messages }) * share));
  const options: BobbinOptions = {
    counter,
    budget: messagesOnly(tokens),
    preset: presets[turn % presets.length] ?? 'ladder',
    rules: RULES[turn % RULES.length] ?? STRICT_RULES,
  };
  const watched = await WatchedThread.open(options);
  const batch = Math.ceil(messages.length / PROMPTS);
  let compactions = 0;
  for (let from = 0; from < messages.length; from += batch) {
    await watched.append(...messages.slice(from, from + batch));
    if ((await watched.prompt()).compacted) compactions++;
  }
  return compactions;
}

function toMessage({
  role,
  content,
  toolCalls = [],
  toolCallId = '',
  toolName = 'tool',
}: Recorded): Message {
  const text = content ?? '';
  switch (role) {
    case 'system':
      return system(text);
    case 'user':
      return user(text);
    case 'assistant': {
      const calls = toolCalls.map(({ id, name, args }) =>
        call(name, typeof args === 'string' ? args : JSON.stringify(args ?? {}), id),
      );
      return text === '' ? assistant(...calls) : assistant(text, ...calls);
    }
    case 'tool':
      return result(call(toolName, {}, toolCallId), text);
  }
}

/** Every `STEP`th conversation of a file. */
function read(path: string): readonly Conversation[] {
  const text = gunzipSync(readFileSync(path)).toString('utf8');
  return text
    .split('\n')
    .filter((line, i) => line !== '' && i % STEP === 0)
    .map((line) => JSON.parse(line) as Conversation);
}
