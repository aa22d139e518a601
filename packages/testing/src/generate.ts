import type { CallPart, Message, Part, Role } from '@bobbin/core';
import type { MessageMeta } from '@bobbin/core/internal';
import {
  assistant,
  call,
  file,
  image,
  opaque,
  reasoning,
  resultPart,
  system,
  user,
  withMeta,
} from './builders.ts';
import { randomText } from './random-text.ts';
import type { Random } from './random.ts';

/** How large and how wild a random conversation is. */
export interface ConversationShape {
  /** About how many messages. */
  readonly messages: number;
  /** The size of what is called huge: a result, a user message, arguments. */
  readonly hugeChars: number;
  /** Milliseconds since the epoch of the first message; later ones follow by the minute. */
  readonly startTime?: number;
}

/**
 * A random conversation with everything that real ones hold and some that they should not: all roles, parallel and
 * split calls, calls that never get a result, late, doubled and orphaned results, call ids used again in a later
 * round, reasoning with and without a signature, a provider's own tools, pictures, files, opaque parts, huge results, messages and arguments,
 * malformed arguments, ideographs, emoji, earlier summaries, times to live, pins, usage, system messages in the
 * middle, several user messages in a row, an assistant that speaks first, empty texts.
 */
export function randomConversation(random: Random, shape: ConversationShape): readonly Message[] {
  return new Conversation(random, shape).messages();
}

class Conversation {
  readonly #random: Random;
  readonly #shape: ConversationShape;
  readonly #messages: Message[] = [];
  #late: CallPart[] = [];
  #calls = 0;

  constructor(random: Random, shape: ConversationShape) {
    this.#random = random;
    this.#shape = shape;
  }

  messages(): readonly Message[] {
    const random = this.#random;
    if (random.chance(0.5)) this.#add(system(randomText(random, random.int(0, 200))));
    if (random.chance(0.1)) this.#add(this.#summary());
    if (random.chance(0.1)) this.#add(assistant(this.#text()));
    while (this.#messages.length < this.#shape.messages) this.#turn();
    if (random.chance(0.3)) this.#round('pending');
    return this.#messages;
  }

  #turn(): void {
    const random = this.#random;
    for (let i = random.chance(0.15) ? 2 : 1; i > 0; i--) this.#add(this.#question());
    for (let rounds = random.int(0, 5); rounds > 0; rounds--) {
      this.#round('answered');
      if (random.chance(0.04)) this.#add(system(this.#text()));
      if (random.chance(0.04)) this.#add(this.#summary());
      if (random.chance(0.04)) this.#orphan();
    }
    if (random.chance(0.6)) this.#add(this.#answer());
    if (this.#late.length > 0 && random.chance(0.7)) this.#answerLate();
  }

  #question(): Message {
    const random = this.#random;
    const parts: (string | Part)[] = [
      random.chance(0.04) ? randomText(random, this.#shape.hugeChars) : this.#text(),
    ];
    if (random.chance(0.05))
      parts.push(image('data:image/png;base64,AAAA', { widthPx: 640, heightPx: 480 }));
    if (random.chance(0.03)) parts.push(file('/tmp/report.pdf', { pages: random.int(1, 3) }));
    if (random.chance(0.02)) parts.push(opaque('mystery', { of: random.int(0, 9) }));
    return user(...parts);
  }

  #answer(): Message {
    const random = this.#random;
    const parts: (string | Part)[] = [];
    if (random.chance(0.3)) parts.push(this.#thought());
    if (parts.length === 0 || random.chance(0.95)) parts.push(this.#text());
    if (random.chance(0.02)) parts.push(opaque('compaction', { encrypted: 'c2VjcmV0' }));
    return assistant(...parts);
  }

  #round(end: 'answered' | 'pending'): void {
    const random = this.#random;
    if (random.chance(0.05)) this.#add(assistant(this.#thought()));
    if (random.chance(0.02)) this.#addOwnTool();
    const calls = Array.from({ length: random.chance(0.25) ? random.int(2, 4) : 1 }, () =>
      this.#call(),
    );
    const split = calls.length > 1 && random.chance(0.2) ? 1 : calls.length;
    this.#add(this.#calling(calls.slice(0, split)));
    if (split < calls.length) {
      if (random.chance(0.3)) this.#add(assistant(this.#text()));
      this.#add(this.#calling(calls.slice(split)));
    }
    const answered = calls.filter(() => !random.chance(end === 'pending' ? 0.6 : 0.06));
    if (end === 'answered') {
      this.#late.push(...calls.filter((c) => !answered.includes(c)));
      if (random.chance(0.03)) this.#add(random.chance(0.5) ? user(this.#text()) : system('Note.'));
    }
    if (random.chance(0.02)) this.#add({ role: 'tool', parts: [opaque('approval', { ok: true })] });
    if (end === 'pending' && answered.length === calls.length) answered.pop();
    this.#answerCalls(random.chance(0.3) ? answered.toReversed() : answered);
  }

  /** A provider's own tool answers within the assistant message. */
  #addOwnTool(): void {
    const own = this.#call();
    this.#add(assistant(own, this.#result(own), this.#text()));
  }

  #calling(calls: readonly CallPart[]): Message {
    const random = this.#random;
    const parts: (string | Part)[] = [];
    if (random.chance(0.25)) parts.push(this.#thought());
    if (random.chance(0.4)) parts.push(this.#text());
    return assistant(...parts, ...calls);
  }

  #call(): CallPart {
    const random = this.#random;
    const tool = random.pick(['read', 'bash', 'write', 'search', 'fetch']);
    // A small number of ids, so that later rounds use an earlier round's again; never twice within a round.
    const callId = random.chance(0.3) ? `call_${this.#calls++ % 7}` : `call_${++this.#calls}x`;
    if (random.chance(0.04)) return call(tool, '{"path": "/src/a.ts", broken', callId);
    if (random.chance(0.03)) return call(tool, '', callId);
    const content = randomText(
      random,
      random.chance(0.04) ? this.#shape.hugeChars : random.int(0, 120),
    );
    return call(tool, { path: `/src/file-${random.int(1, 20)}.ts`, content }, callId);
  }

  #answerCalls(calls: readonly CallPart[]): void {
    const random = this.#random;
    const results = calls.map((c) => this.#result(c));
    if (results.length === 0) return;
    if (results.length > 1 && random.chance(0.3)) this.#add({ role: 'tool', parts: results });
    else if (random.chance(0.15)) {
      const said: readonly Part[] = random.chance(0.3)
        ? [{ kind: 'text', text: this.#text() }]
        : [];
      this.#add({ role: 'user', parts: [...results, ...said] });
    } else for (const result of results) this.#add({ role: 'tool', parts: [result] });
    const [first] = calls;
    if (first !== undefined && random.chance(0.03))
      this.#add({ role: 'tool', parts: [this.#result(first)] });
  }

  #result(of: CallPart): Part {
    const random = this.#random;
    const size = random.chance(0.08) ? random.int(1, this.#shape.hugeChars) : random.int(0, 250);
    const text = random.chance(0.1)
      ? JSON.stringify({ id: random.int(1, 999), state: 'open', body: randomText(random, size) })
      : randomText(random, size);
    const content = [
      { kind: 'text' as const, text },
      ...(random.chance(0.04) ? [image('https://example.org/a.png')] : []),
      ...(random.chance(0.01) ? [opaque('sound', null)] : []),
    ];
    return resultPart(of, random.chance(0.02) ? [] : content, {
      ...(random.chance(0.5) ? { outcome: random.pick(['success', 'failure', 'partial']) } : {}),
      ...(random.chance(0.3)
        ? {
            durability: random.pick(['ephemeral', 'anchoring', 'replayable', 'non-replayable']),
          }
        : {}),
      ...(random.chance(0.2) ? { keyFields: { total: random.int(0, 9), name: '名前' } } : {}),
      ...(random.chance(0.2) ? { determinism: { etag: `e${random.int(0, 2)}` } } : {}),
    });
  }

  #orphan(): void {
    this.#add({ role: 'tool', parts: [this.#result(call('bash', {}, `lost_${this.#calls++}`))] });
  }

  #answerLate(): void {
    const late = this.#late;
    this.#late = [];
    this.#answerCalls(late);
  }

  #summary(): Message {
    const text = `## Session Summary\n${this.#text()}`;
    const role = this.#random.pick<Role>(['assistant', 'user']);
    const message: Message = { role, parts: [{ kind: 'text', text }] };
    return this.#random.chance(0.5) ? withMeta(message, { synthetic: true }) : message;
  }

  #thought(): Part {
    const random = this.#random;
    return random.chance(0.5)
      ? reasoning(this.#text(), `sig-${random.int(0, 0xffff_ffff).toString(16)}`)
      : reasoning(this.#text());
  }

  #text(): string {
    const random = this.#random;
    if (random.chance(0.03)) return '';
    return randomText(random, random.chance(0.1) ? random.int(200, 1200) : random.int(1, 120));
  }

  #add(message: Message): void {
    const meta = this.#meta(message);
    this.#messages.push(meta === undefined ? message : withMeta(message, meta));
  }

  #meta({ role }: Message): MessageMeta | undefined {
    const random = this.#random;
    if (random.chance(0.3)) return undefined;
    const time = (this.#shape.startTime ?? 0) + this.#messages.length * 60_000;
    return {
      time,
      ...(random.chance(0.02) ? { pinned: true } : {}),
      ...(random.chance(0.03) ? { branch: 'helper' } : {}),
      ...(random.chance(0.05) ? { ttlMs: random.int(1, 20) * 60_000 } : {}),
      ...(random.chance(0.03) ? { replacement: '[gone]' } : {}),
      ...(role === 'assistant' && random.chance(0.3) ? this.#usage() : {}),
    };
  }

  #usage(): MessageMeta {
    const random = this.#random;
    return {
      usage: {
        inputTokens: random.int(0, 2000),
        outputTokens: random.int(0, 200),
        cacheReadTokens: random.int(0, 2000),
        cacheWriteTokens: random.int(0, 500),
      },
      ...(random.chance(0.2) ? { status: random.pick(['complete', 'aborted', 'error']) } : {}),
    };
  }
}
