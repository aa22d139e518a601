// What one more round costs on a long thread when nothing is compacted: append and prompt through the host-facing door,
// on 1 000 and on 10 000 messages of 200 tokens each. It must not grow with the thread.
import { createBobbin, textMessage, type Message } from '@bobbin/core';

const TOKENS_A_MESSAGE = 200;
const WARM_UP = 100;
const STEPS = 200;
const WINDOW = 10_000_000;
const LIMIT_MS = 2;

const small = await measure(1_000);
const large = await measure(10_000);
print('1 000 messages', small);
print('10 000 messages', large);
console.log(`ratio of the medians  ${(large.median / small.median).toFixed(2)}`);
if (large.median > LIMIT_MS) {
  console.log(`over the limit of ${LIMIT_MS} ms`);
  process.exitCode = 1;
}

interface Times {
  readonly tokens: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

async function measure(messages: number): Promise<Times> {
  const thread = await createBobbin({ window: WINDOW }).thread(`bench-${messages}`);
  await thread.append(textMessage('user', 'Wind every module on its bobbin.'));
  // The thread has its size in the middle of the steps that are measured.
  const before = messages / 2 - WARM_UP - STEPS / 2;
  for (let i = 0; i < before; i++) await thread.append(...round(i));
  const times: number[] = [];
  let tokens = 0;
  for (let i = 0; i < WARM_UP + STEPS; i++) {
    const next = round(before + i);
    const started = performance.now();
    await thread.append(...next);
    const fitted = await thread.prompt();
    const sent = fitted.messages.length;
    const took = performance.now() - started;
    if (sent !== 1 + 2 * (before + i + 1)) throw new Error(`${sent} messages were to be sent`);
    if (fitted.compacted) throw new Error('something was compacted: the window is too small');
    if (i >= WARM_UP) times.push(took);
    tokens = fitted.prompt.tokens;
  }
  times.sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { tokens, median: quantile(0.5), p95: quantile(0.95), max: quantile(1) };
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
  for (let line = 0; text.length < TOKENS_A_MESSAGE * 2.4; line++)
    text += `Thread ${i} is wound on bobbin ${line} and nothing of it is cut. `;
  return text;
}

function ms(value: number): string {
  return `${value.toFixed(3)} ms`.padStart(11);
}

function print(name: string, times: Times): void {
  const size = `${(times.tokens / 1e6).toFixed(2)} M tokens`;
  console.log(
    `${name.padEnd(16)} ${size.padEnd(15)} median${ms(times.median)}   p95${ms(times.p95)}   max${ms(times.max)}`,
  );
}
