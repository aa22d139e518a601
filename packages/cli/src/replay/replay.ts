import type { BobbinOptions, Counter, Message } from '@bobbin/core';
import { isKnownModel, modelFacts, PRESETS, THRIFT, type CacheFacts } from '@bobbin/core/internal';
import { oneOf, wholeNumber } from '../command.ts';
import { readConversation } from '../input/conversation.ts';
import { COUNTERS, usualCounter } from '../compact/counters.ts';
import { EXIT, InputError, UsageError } from '../failure.ts';
import { counted, grouped, short } from '../output/figures.ts';
import { FORMATS } from '../input/formats.ts';
import { heading } from '../output/picture.ts';
import type { ReplayValues } from '../commands/replay.ts';
import { stdoutScreen, type Screen } from '../output/screen.ts';
import { readText, sourcesOf, write } from '../input/text-stream.ts';
import { Bill, requestsIn, type Prices } from './bill.ts';
import { bobbinMethod, clearResults, dropOldest, fullHistory, type Method } from './methods.ts';

/** Replays the one session that the operands name, prints the table, and gives the exit code. */
export async function replay(operands: readonly string[], values: ReplayValues): Promise<number> {
  const [source, ...more] = sourcesOf(operands);
  if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
  const format = oneOf('format', values.format, FORMATS) ?? 'auto';
  const windowTokens = wholeNumber('window', values.window);
  const named = oneOf('counter', values.counter, COUNTERS);
  const { messages, model: inText } = readConversation(await readText(source), source.name, format);
  const model = values.model ?? (inText !== undefined && isKnownModel(inText) ? inText : undefined);
  const facts = modelFacts(model);
  const setting: Setting = {
    counter: await (named === undefined ? usualCounter(model) : COUNTERS[named]()),
    windowTokens: windowTokens ?? facts.windowTokens,
    prices: {
      read: price('read', values.read) ?? facts.cache?.readPrice ?? 0.1,
      write: price('write', values.write) ?? facts.cache?.writePrice ?? 1.25,
    },
  };
  if (messages.length === 0)
    throw new InputError(source.name, undefined, 'has no messages to replay');
  const rows = await replayAll(messages.map(said), methodsFor(setting, values), setting);
  const lines = draw(stdoutScreen(), source.name, setting, rows);
  await write(process.stdout, `${lines.join('\n')}\n`);
  return EXIT.done;
}

/** What was said, without what a provider reported of prompts that are not these. */
function said(message: Message): Message {
  const { usage: _, ...meta } = message.meta ?? {};
  return { ...message, meta };
}

interface Setting {
  readonly counter: Counter;
  readonly windowTokens: number;
  readonly prices: Prices;
}

function price(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new UsageError(`--${option} must be a number of at least 0, not ${JSON.stringify(given)}`);
}

type Named = readonly [name: string, method: Method];

function methodsFor(setting: Setting, values: ReplayValues): readonly Named[] {
  const { counter, windowTokens } = setting;
  return [
    ['full history', fullHistory],
    ['drop the oldest', dropOldest(counter, windowTokens)],
    ['clear results', clearResults(counter, windowTokens)],
    ...policiesFor(setting, values),
  ];
}

function policiesFor(setting: Setting, { preset, thrift }: ReplayValues): readonly Named[] {
  const thrifts = (thrift ?? []).map((each) => oneOf('thrift', each, THRIFT) ?? 'careful');
  const presets = (preset ?? []).map((each) => oneOf('preset', each, PRESETS) ?? 'ladder');
  const usual = thrifts.length + presets.length === 0;
  const trimming = usual ? (['gentle', 'careful', 'balanced', 'frugal'] as const) : thrifts;
  const others = usual ? (['claude-code'] as const) : presets;
  return [
    ...trimming.map((each) => [`ladder ${each}`, policy(setting, { thrift: each })] as const),
    ...others.map((each) => [each, policy(setting, { preset: each })] as const),
  ];
}

function policy(
  { counter, windowTokens, prices }: Setting,
  options: Pick<BobbinOptions, 'preset' | 'thrift'>,
): Method {
  const cache: CacheFacts = {
    readPrice: prices.read,
    writePrice: prices.write,
    ttlMs: 300_000,
    minimumTokens: 1024,
    markers: 4,
  };
  const models = { replayed: { windowTokens, cache } };
  return bobbinMethod({ ...options, counter, model: 'replayed', models });
}

interface Row {
  readonly name: string;
  readonly bill: Bill;
}

async function replayAll(
  messages: readonly Message[],
  methods: readonly Named[],
  { prices, counter }: Setting,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, method] of methods) {
    const bill = new Bill(prices, counter);
    for (const end of requestsIn(messages)) bill.add(await method(messages.slice(0, end)));
    rows.push({ name, bill });
  }
  return rows;
}

const WIDTHS = [18, 10, 8, 9, 9, 9] as const;

function draw(
  screen: Screen,
  name: string,
  { prices, windowTokens, counter }: Setting,
  rows: readonly Row[],
): readonly string[] {
  const [first] = rows;
  const full = first?.bill.total ?? 0;
  const requests = first?.bill.sizes.length ?? 0;
  const most = Math.max(1, ...rows.flatMap(({ bill }) => bill.sizes));
  const cells = ['method', 'bill', 'of full', 'largest', 'again', 'rewrites'];
  const facts = `${counted(requests, 'request')}, a window of ${grouped(windowTokens)} tokens by ${counter.name}; a cached token costs ${prices.read}, a written one ${prices.write}`;
  return [
    heading(screen, name),
    `  ${facts}`,
    '',
    `  ${row(cells)}`,
    ...rows.map(({ name: method, bill }) => `  ${row(figures(method, bill, full))}`),
    '',
    `  Prompt size from the first request to the last, up to ${short(most)} tokens`,
    ...rows.map(
      ({ name: method, bill }) =>
        `  ${method.padEnd(WIDTHS[0])} ${curve(bill.sizes, most, Math.max(10, Math.min(60, screen.width - 24)))}`,
    ),
    '',
    '  bill: tokens of fresh input. again: tokens written again because something before them changed.',
  ];
}

function figures(name: string, bill: Bill, full: number): readonly string[] {
  return [
    name,
    short(Math.round(bill.total)),
    full === 0 ? '–' : (bill.total / full).toFixed(2),
    short(Math.max(0, ...bill.sizes)),
    short(bill.rewrittenTokens),
    String(bill.rewrites),
  ];
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[i] ?? 9)))
    .join('');
}

const LEVELS = '▁▂▃▄▅▆▇█';

/** One character for each of some stretches of requests, as high as the largest prompt in it. */
function curve(sizes: readonly number[], most: number, width: number): string {
  const columns = Math.min(width, sizes.length);
  return Array.from({ length: columns }, (_, i) => {
    const from = Math.floor((i * sizes.length) / columns);
    const to = Math.max(from + 1, Math.floor(((i + 1) * sizes.length) / columns));
    const share = Math.max(...sizes.slice(from, to)) / most;
    return LEVELS[Math.min(LEVELS.length - 1, Math.floor(share * LEVELS.length))];
  }).join('');
}
