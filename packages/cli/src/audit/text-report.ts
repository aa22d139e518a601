import { columns, hanging, oneLine } from '../output/columns.ts';
import { counted, grouped } from '../output/figures.ts';
import { heading } from '../output/picture.ts';
import { plainPicture } from '../output/plain-text.ts';
import type { Screen } from '../output/screen.ts';
import type { FileAudit } from './audit.ts';
import {
  itemsOf,
  totalsOf,
  type AuditedItem,
  type ClassTotal,
  type CompactionAudit,
} from './session-audit.ts';
import {
  LEGEND,
  PLURALS,
  placeOf,
  shareLost,
  sizesOf,
  UNREADABLE,
  withoutCompaction,
} from './words.ts';

/** The report for a terminal or a pipe; of each compaction at most `shown` lost items are listed. */
export function textReport(
  screen: Screen,
  files: readonly FileAudit[],
  shown: number,
): readonly string[] {
  const isOne = files.length === 1;
  const sessions = files.flatMap((file, i) => [
    ...(i === 0 ? [] : ['']),
    ...fileLines(screen, file, shown),
  ]);
  const items = itemsOf(files);
  const audited = files.flatMap(({ compactions }) => compactions);
  const total =
    isOne && audited.length < 2
      ? []
      : [
          '',
          heading(screen, `All ${counted(audited.length, 'compaction')}`),
          ...tableLines(screen, items),
        ];
  const legend = LEGEND.flatMap((line) => hanging('  ', line, screen.width));
  return plainPicture([
    ...sessions,
    ...(items.length === 0
      ? []
      : [...total, '', ...legend.map((line) => screen.paint('dim', line))]),
  ]);
}

function fileLines(screen: Screen, file: FileAudit, shown: number): readonly string[] {
  const { compactions, format, messages, counter, model } = file;
  const name = oneLine(file.file, screen.width);
  if (compactions.length === 0)
    return [heading(screen, name), ...hanging('  ', withoutCompaction(file), screen.width)];
  const facts = `${format} · ${counted(messages, 'message')} · ${counted(compactions.length, 'compaction')} · tokens by ${counter}${model === undefined ? '' : ` for ${model}`}`;
  return [
    heading(screen, name),
    ...hanging('  ', oneLine(facts, 400), screen.width),
    ...compactions.flatMap((compaction, i) => compactionLines(screen, compaction, i + 1, shown)),
  ];
}

function compactionLines(
  screen: Screen,
  compaction: CompactionAudit,
  number: number,
  shown: number,
): readonly string[] {
  const head = ['', heading(screen, `Compaction ${number}, ${placeOf(compaction)}`)];
  if (compaction.kind === 'unreadable') return [...head, `  ${UNREADABLE}`];
  const { items } = compaction;
  return [
    ...head,
    ...hanging('  ', sizesOf(compaction), screen.width),
    ...tableLines(screen, items),
    ...lostLines(
      screen,
      'Lost by the summary',
      items.filter(({ agent }) => agent === 'absent'),
      shown,
    ),
    ...lostLines(
      screen,
      'Kept by the summary, lost by Bobbin',
      items.filter(({ agent, bobbin: own }) => agent !== 'absent' && own === 'absent'),
      shown,
    ),
  ];
}

const NAME = 12;
const CELL = 6;
/** Below this width the figures of Bobbin have a table of their own. */
const WIDTH_FOR_BOTH = 76;

function tableLines(screen: Screen, items: readonly AuditedItem[]): readonly string[] {
  if (items.length === 0) return ['  Nothing that matters was said before it.'];
  const totals = totalsOf(items);
  const sides = [side('the summary', 'agent'), side('Bobbin', 'bobbin')];
  const groups = screen.width >= WIDTH_FOR_BOTH ? [sides] : sides.map((one) => [one]);
  return [
    ...groups.flatMap((group) => ['', ...figureTable(screen, totals, group)]),
    ...bars(screen, totals.at(-1) as ClassTotal),
  ];
}

interface Side {
  readonly title: string;
  cells(total: ClassTotal): readonly number[];
}

function side(title: string, by: 'agent' | 'bobbin'): Side {
  return {
    title,
    cells: (total) => [
      total[by].exact,
      total[by].alike,
      total[by].absent,
      by === 'agent' ? total.agentNeeded : total.bobbinNeeded,
    ],
  };
}

const HEADS = ['exact', 'alike', 'lost', 'used'];
const GAP = '  ';

function figureTable(
  screen: Screen,
  totals: readonly ClassTotal[],
  sides: readonly Side[],
): readonly string[] {
  const margin = ' '.repeat(2 + NAME + CELL);
  const titles = sides.map(({ title }) => GAP + title.padStart(CELL * HEADS.length)).join('');
  const heads = sides.map(() => GAP + HEADS.map((name) => name.padStart(CELL)).join('')).join('');
  return [
    screen.paint('dim', `${margin}${titles}`),
    screen.paint('dim', `  ${''.padEnd(NAME)}${'items'.padStart(CELL)}${heads}`),
    ...totals.map((total) => {
      const name = PLURALS[total.class].padEnd(NAME);
      const cells = sides.map(
        (one) =>
          GAP +
          one
            .cells(total)
            .map((count, i) => cell(screen, count, i))
            .join(''),
      );
      const line = `  ${name}${grouped(total.said).padStart(CELL)}${cells.join('')}`;
      return total.class === 'all' ? screen.paint('bold', line) : line;
    }),
  ];
}

const LOST = 2;

function cell(screen: Screen, count: number, column: number): string {
  const text = grouped(count).padStart(CELL);
  return column >= LOST && count > 0 ? screen.paint('red', text) : text;
}

/** How much was lost, drawn; only a terminal gets a drawing. */
function bars(screen: Screen, all: ClassTotal): readonly string[] {
  if (!process.stdout.isTTY) return [];
  const width = Math.min(50, screen.width - NAME - 12);
  const draw = (name: string, by: 'agent' | 'bobbin'): string => {
    const share = shareLost(all, by);
    const cells = Math.round(share * width);
    const bar = `${screen.paint('red', '█'.repeat(cells))}${screen.paint('green', '░'.repeat(width - cells))}`;
    return `  ${name.padEnd(NAME)}${bar} ${Math.round(share * 100)} % lost`;
  };
  return ['', draw('the summary', 'agent'), draw('Bobbin', 'bobbin')];
}

function lostLines(
  screen: Screen,
  title: string,
  items: readonly AuditedItem[],
  shown: number,
): readonly string[] {
  if (items.length === 0) return [];
  const sorted = items.toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a)));
  const left = sorted.length - shown;
  return [
    '',
    `  ${title}: ${counted(items.length, 'item')}`,
    screen.paint('dim', `  ${row('said', 'class', 'used', 'Bobbin')}item`),
    ...sorted.slice(0, shown).map((item) => itemLine(screen, item)),
    ...(left > 0 ? [screen.paint('dim', `  … ${left} more; --all lists them`)] : []),
  ];
}

const isUsed = ({ neededAt }: AuditedItem): boolean => neededAt !== undefined;

function itemLine(screen: Screen, item: AuditedItem): string {
  const used = item.neededAt === undefined ? '–' : `m${item.neededAt + 1}`;
  const own = item.bobbin === 'absent' ? 'lost' : item.bobbin;
  const head = `  ${row(`m${item.at + 1}`, item.class, used, own)}`;
  const line = head + oneLine(item.text, Math.max(20, screen.width - columns(head)));
  return isUsed(item) ? screen.paint('yellow', line) : line;
}

function row(said: string, kind: string, used: string, bobbin: string): string {
  return `${said.padEnd(7)}${kind.padEnd(11)}${used.padEnd(7)}${bobbin.padEnd(8)}`;
}
