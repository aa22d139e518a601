// Draws docs/diagrams/window.svg: the prompt of each request of the sample session, whole and with Bobbin in a window of
// 48 000 tokens, as the engine makes it.
//
//   npx node --conditions=@bobbin/source scripts/docs/window-diagram.ts
import { writeFileSync } from 'node:fs';
import { createBobbin, type Message } from '@bobbin/core';
import { chars4 } from '@bobbin/core/internal';
import { fileURLToPath } from 'node:url';
import { readConversation } from '../../packages/cli/src/input/conversation.ts';
import { readSample } from '../../packages/cli/src/input/sample.ts';

const WINDOW = 48_000;
const [LEFT, TOP, WIDTH, HEIGHT] = [70, 46, 660, 210];

interface Request {
  readonly whole: number;
  readonly fitted: number;
  readonly compacted: boolean;
}

async function requests(messages: readonly Message[]): Promise<readonly Request[]> {
  const counter = chars4();
  const bobbin = createBobbin({ window: WINDOW, counter, onEvent: () => undefined });
  const found: Request[] = [];
  let whole = 0;
  for (const [i, message] of messages.entries()) {
    whole += counter.message(message);
    if (messages[i + 1]?.role !== 'assistant') continue;
    const { prompt, compacted } = await bobbin.fit(messages.slice(0, i + 1));
    found.push({ whole, fitted: prompt.tokens, compacted });
  }
  return found;
}

const thousands = (tokens: number): string => `${Math.round(tokens / 1000)}k`;

function drawn(all: readonly Request[]): string {
  const most = Math.max(...all.map(({ whole }) => whole));
  const x = (i: number): number => Math.round(LEFT + (i / (all.length - 1)) * WIDTH);
  const y = (tokens: number): number => Math.round(TOP + HEIGHT - (tokens / most) * HEIGHT);
  const line = (of: (one: Request) => number): string =>
    all.map((one, i) => `${x(i)},${y(of(one))}`).join(' ');
  const dots = all.flatMap(({ compacted, fitted }, i) =>
    compacted ? [`<circle class="dot" cx="${x(i)}" cy="${y(fitted)}" r="4"/>`] : [],
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 330" role="img" aria-labelledby="t" font-family="system-ui, sans-serif" font-size="14">
<title id="t">The prompt of each request: the whole history grows beyond the window, Bobbin's prompt stays within it.</title>
<style>
.card { fill: #fff; stroke: #d5d9de } text { fill: #1c2024 } .dim { fill: #60666d } .axis { stroke: #8a929b; fill: none } polyline { fill: none; stroke-width: 2.5 }
.whole { stroke: #c9372c } .own { stroke: #2c8a57 } .dot { fill: #8a63bd } .window { stroke: #d29a1c; stroke-dasharray: 6 5; stroke-width: 2 }
@media (prefers-color-scheme: dark) { .card { fill: #1e2226; stroke: #343a40 } text { fill: #e6e8eb } .dim { fill: #9aa1a9 } .whole { stroke: #e5604f } .own { stroke: #3fa873 } .dot { fill: #b190e0 } }
</style>
<rect class="card" x="1" y="1" width="758" height="328" rx="12"/>
<path class="axis" d="M${LEFT} ${TOP - 10}V${TOP + HEIGHT}H${LEFT + WIDTH}"/>
<g class="dim" text-anchor="end"><text class="dim" x="${LEFT - 8}" y="${y(most) + 5}">${thousands(most)}</text><text class="dim" x="${LEFT - 8}" y="${y(WINDOW) + 5}">${thousands(WINDOW)}</text><text class="dim" x="${LEFT - 8}" y="${y(0) + 5}">0</text></g>
<path class="window" d="M${LEFT} ${y(WINDOW)}H${LEFT + WIDTH}"/>
<polyline class="whole" points="${line(({ whole }) => whole)}"/>
<polyline class="own" points="${line(({ fitted }) => fitted)}"/>
${dots.join('\n')}
<text x="${LEFT}" y="28">tokens of the prompt</text><text class="dim" x="${LEFT + WIDTH}" y="${TOP + HEIGHT + 20}" text-anchor="end">request ${all.length}</text>
<g transform="translate(${LEFT}, 308)"><path class="whole" d="M0 -5H24" stroke-width="2.5"/><text x="30">the whole history</text><path class="own" d="M180 -5H204" stroke-width="2.5"/><text x="210">with Bobbin</text><circle class="dot" cx="330" cy="-5" r="4"/><text x="342">a compaction</text><path class="window" d="M460 -5H484"/><text x="490">the window</text></g>
</svg>
`;
}

const file = fileURLToPath(new URL('../../docs/diagrams/window.svg', import.meta.url));
const found = await requests(readConversation(readSample(), 'the sample', 'openai').messages);
writeFileSync(file, drawn(found));
const compactions = found.filter(({ compacted }) => compacted).length;
console.log(
  `${found.length} requests, ${compactions} compactions, at most ${Math.max(...found.map(({ fitted }) => fitted))} tokens`,
);
