import type { Budget } from '@bobbin/core';
import { messageLimit } from '@bobbin/core/internal';
import { hanging, sideBySide } from './columns.ts';
import { counted, short } from './figures.ts';
import type { RungTotal } from '../compact/freed-by-rung.ts';
import type { Screen } from './screen.ts';
import { KINDS, type Kind, type Shares } from '../compact/token-shares.ts';

const MARGIN = '  ';
const LABEL = 8;
const FIGURE = 8;

/** Two bars on one scale, with a line at the end of the window. */
export function windowBars(
  screen: Screen,
  budget: Budget,
  bars: readonly (readonly [label: string, shares: Shares])[],
): readonly string[] {
  const width = screen.width - MARGIN.length - LABEL - FIGURE;
  const limit = messageLimit(budget);
  const scale = Math.max(limit, ...bars.map(([, shares]) => total(shares))) * 1.02;
  const edge = Math.round((limit / scale) * width);
  const name = `limit ${short(limit)}`;
  const mark =
    edge > name.length
      ? `${name} ╷`.padStart(edge + 1)
      : `╷ ${name}`.padStart(edge + 2 + name.length);
  return [
    `${MARGIN}${' '.repeat(LABEL)}${screen.paint('dim', mark)}`,
    ...bars.map(([label, shares]) => {
      const cells = bar(screen, shares, { width, scale, edge });
      const figure = short(total(shares)).padStart(FIGURE);
      const over = total(shares) > limit;
      return `${MARGIN}${label.padEnd(LABEL)}${cells}${screen.paint(over ? 'red' : 'bold', figure)}`;
    }),
    '',
    ...legend(
      screen,
      bars.map(([, shares]) => shares),
    ),
  ];
}

function bar(
  screen: Screen,
  shares: Shares,
  { width, scale, edge }: { width: number; scale: number; edge: number },
): string {
  const kinds: (Kind | undefined)[] = [];
  let tokens = 0;
  for (const [kind, share] of Object.entries(shares) as [Kind, number][]) {
    tokens += share;
    while (kinds.length < Math.round((tokens / scale) * width)) kinds.push(kind);
  }
  while (kinds.length < width) kinds.push(undefined);
  return kinds
    .map((kind, i) => {
      if (i === edge) return screen.paint('dim', '│');
      return kind === undefined ? ' ' : screen.paint(KINDS[kind].color, KINDS[kind].sign);
    })
    .join('');
}

function legend(screen: Screen, all: readonly Shares[]): readonly string[] {
  const kinds = (Object.keys(KINDS) as Kind[])
    .filter((kind) => all.some((shares) => shares[kind] > 0))
    .map((kind) => `${screen.paint(KINDS[kind].color, KINDS[kind].sign)} ${kind}`);
  const margin = MARGIN + ' '.repeat(LABEL);
  return sideBySide(kinds, ' ', screen.width - margin.length).map((line) => margin + line);
}

function total(shares: Shares): number {
  return Object.values(shares).reduce((sum, share) => sum + share, 0);
}

/** What became of the messages that a rung touched. */
export function became(rung: RungTotal): string {
  return BECAME[rung.strategy]?.(rung) ?? `${counted(rung.messages, 'message')} shortened`;
}

const BECAME: Readonly<Record<string, (rung: RungTotal) => string>> = {
  externalize: ({ records }) => `${counted(records, 'large result')} moved to artifacts`,
  excerpts: ({ records }) => `${counted(records, 'message')} shortened to excerpts`,
  summarize: ({ messages }) => `${counted(messages, 'message')} became one summary`,
  'shrink-summary': () => 'the summary made shorter',
  clear: ({ messages }) => `${counted(messages, 'old result')} cleared to key fields`,
  drop: ({ messages }) => `${counted(messages, 'message')} left out, an index entry stays`,
};

/** A bar for each rung of a policy, if there is space for one: how much it freed, or that it was not needed. */
export function rungBars(
  screen: Screen,
  ladder: readonly string[],
  totals: readonly RungTotal[],
): readonly string[] {
  const names = [...new Set([...ladder, ...totals.map(({ strategy }) => strategy)])];
  const most = Math.max(1, ...totals.map(({ freed }) => freed));
  const label = Math.max(...names.map((name) => name.length)) + 2;
  const space = screen.width - MARGIN.length - label - FIGURE;
  const width = space < LEAST_FOR_BARS ? 0 : Math.floor(space * 0.36);
  return names.flatMap((name) => {
    const rung = totals.find(({ strategy }) => strategy === name);
    const head = `${MARGIN}${name.padEnd(label)}`;
    if (rung === undefined)
      return screen.paint(
        'dim',
        `${head}${'–'.padStart(FIGURE - 1)}  ${' '.repeat(width)} not needed`,
      );
    const cells = '█'.repeat(Math.min(width, Math.max(1, Math.round((rung.freed / most) * width))));
    const freed = `−${short(rung.freed)}`.padStart(FIGURE - 1);
    const painted = screen.paint('green', cells.padEnd(width));
    return hanging(`${head}${freed}  ${painted} `, became(rung), screen.width);
  });
}

const LEAST_FOR_BARS = 36;

export function heading(screen: Screen, text: string): string {
  return screen.paint('bold', text);
}
