// What one more round costs on a long thread when nothing is compacted, through the API of a host: `append` and
// `prompt`, on 1 000 and on 10 000 messages. It must not grow with the thread. Reading the prompt's messages touches each
// of them once, as sending them does; that is measured apart.
import { createBobbin, presets, textMessage, type Message, type Policy } from '@bobbin/core';

const CHARS_A_MESSAGE = 480;
const WARM_UP = 100;
const STEPS = 400;
const WINDOW = 10_000_000;
const LIMIT_MS = 2;

/** Reads that cost nothing are never worth a rewrite: the figures are kept, and nothing is trimmed. */
const prices = { write: 1, read: 0, ttlMs: 1 };
const preset: Policy = { ...presets.ladder(), economics: { prices, requestsToCome: 20 } };

const small = await measure(1_000);
const large = await measure(10_000);
print('append + prompt', small.step, large.step);
print('… + messages', small.sent, large.sent);
console.log(`on ${size(small.tokens)} and ${size(large.tokens)} tokens, medians of ${STEPS}`);
if (median(large.sent) > LIMIT_MS) {
  console.log(`over the limit of ${LIMIT_MS} ms`);
  process.exitCode = 1;
}

interface Times {
  readonly tokens: number;
  readonly step: readonly number[];
  readonly sent: readonly number[];
}

async function measure(messages: number): Promise<Times> {
  const thread = await createBobbin({ window: WINDOW, preset, clock: { now: () => 0 } }).thread(
    `bench-${messages}`,
  );
  await thread.append(textMessage('user', 'Wind every module on its bobbin.'));
  await thread.prompt();
  // The thread has its size in the middle of the steps that are measured.
  const before = messages / 2 - WARM_UP - STEPS / 2;
  for (let i = 0; i < before; i++) await thread.append(...round(i));
  const [step, sent]: [number[], number[]] = [[], []];
  let tokens = 0;
  for (let i = 0; i < WARM_UP + STEPS; i++) {
    const next = round(before + i);
    const started = performance.now();
    await thread.append(...next);
    const fitted = await thread.prompt();
    const prompted = performance.now();
    const { length } = fitted.messages;
    const read = performance.now();
    if (fitted.compacted || length !== 1 + 2 * (before + i + 1))
      throw new Error('something was compacted: the window is too small');
    if (i < WARM_UP) continue;
    step.push(prompted - started);
    sent.push(read - started);
    tokens = fitted.prompt.tokens;
  }
  return { tokens, step, sent };
}

/** A call and its result; every text differs, so that nothing is counted or hashed for free. */
function round(i: number): readonly Message[] {
  const path = `src/module-${i}/file-${i % 17}.ts`;
  const args = JSON.stringify({ path, content: prose(i) });
  const text = `${path} line ${i}: ${prose(i + 1)}`;
  return [
    { role: 'assistant', parts: [{ kind: 'call', callId: `call-${i}`, tool: 'write', args }] },
    {
      role: 'tool',
      parts: [
        { kind: 'result', callId: `call-${i}`, tool: 'write', content: [{ kind: 'text', text }] },
      ],
    },
  ];
}

function prose(i: number): string {
  let text = '';
  for (let line = 0; text.length < CHARS_A_MESSAGE; line++)
    text += `Thread ${i} is wound on bobbin ${line} and nothing of it is cut. `;
  return text;
}

function print(name: string, few: readonly number[], many: readonly number[]): void {
  const [one, ten] = [median(few), median(many)];
  const ratio = (ten / one).toFixed(2);
  console.log(
    `${name.padEnd(16)} 1 000 messages ${one.toFixed(3)} ms   10 000 messages ${ten.toFixed(3)} ms   ratio ${ratio}`,
  );
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

function size(tokens: number): string {
  return `${(tokens / 1e6).toFixed(2)} M`;
}
