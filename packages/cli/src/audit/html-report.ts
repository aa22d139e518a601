import { counted, grouped } from '../output/figures.ts';
import { plainText } from '../output/plain-text.ts';
import type { FileAudit } from './audit.ts';
import { STYLE } from './html-style.ts';
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

/**
 * The report as one page. It runs no script and loads nothing, and says so to the browser: the text of a session is not
 * trusted.
 */
export function htmlReport(files: readonly FileAudit[]): string {
  const items = itemsOf(files);
  const [first] = files;
  const name = files.length === 1 && first !== undefined ? first.file : `${files.length} sessions`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Compaction audit: ${escaped(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Compaction audit: ${escaped(name)}</h1>
<p class="dim">What the agent still had after each compaction, and what Bobbin keeps at the same size without a model.</p>
${files.length === 1 && first !== undefined ? factsOf(first) : ''}
${items.length === 0 ? '' : overview(files, items)}
${files.map((file) => section(file, files.length)).join('\n')}
<footer>${LEGEND.map((line) => `<p>${escaped(line)}</p>`).join('\n')}</footer>
</main>
</body>
</html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A foreign text in a page: no markup of its own, and nothing that changes the direction of what follows. */
function escaped(text: string): string {
  return plainText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function tile(figure: string, text: string): string {
  return `<li><b>${figure}</b>${escaped(text)}</li>`;
}

function overview(files: readonly FileAudit[], items: readonly AuditedItem[]): string {
  const totals = totalsOf(items);
  const all = totals.at(-1) as ClassTotal;
  const compactions = files.flatMap((file) => file.compactions).length;
  return `<ul class="verdict">
${tile(percent(shareLost(all, 'agent')), `lost by the summaries: ${grouped(all.agent.absent)} of ${counted(all.said, 'item')} in ${counted(compactions, 'compaction')}`)}
${tile(grouped(all.agentNeeded), 'of the lost items were used again by the agent later')}
${tile(percent(shareLost(all, 'bobbin')), `lost by Bobbin at the same size: ${counted(all.bobbin.absent, 'item')}, ${grouped(all.bobbinNeeded)} used again later`)}
</ul>
${key()}
${files.flatMap((file) => file.compactions).length > 1 ? chart(totals) : ''}`;
}

function key(): string {
  const entries = [
    ['exact', 'exact: the same string is there'],
    ['alike', 'alike: most of its words are there'],
    ['lost', 'lost: neither'],
  ] as const;
  const parts = entries.map(([name, text]) => `<li><i class="${name}"></i>${text}</li>`);
  return `<ul class="key">${parts.join('')}<li>used: the agent used it again after the compaction</li></ul>`;
}

function chart(totals: readonly ClassTotal[]): string {
  const rows = totals.map(
    (total) =>
      `<tr><th scope="row">${PLURALS[total.class]} <span class="dim">${grouped(total.said)}</span></th><td>${bar('summary', total, 'agent')}${bar('Bobbin', total, 'bobbin')}</td></tr>`,
  );
  return `<table class="chart">${rows.join('\n')}</table>`;
}

function bar(name: string, total: ClassTotal, by: 'agent' | 'bobbin'): string {
  const { exact, alike, absent } = total[by];
  const used = by === 'agent' ? total.agentNeeded : total.bobbinNeeded;
  const part = (kind: string, count: number): string =>
    count === 0 ? '' : `<i class="${kind}" style="width:${(100 * count) / total.said}%"></i>`;
  const text = `${grouped(absent)} lost${used === 0 ? '' : `, ${grouped(used)} used`}`;
  return `<div class="bar"><span>${name}</span><span class="track" role="img" aria-label="${exact} exact, ${alike} alike, ${absent} lost">${part('exact', exact)}${part('alike', alike)}${part('lost', absent)}</span><span>${text}</span></div>`;
}

function section(file: FileAudit, files: number): string {
  const { compactions } = file;
  const title = files === 1 ? '' : `<h2>${escaped(file.file)}</h2>${factsOf(file)}`;
  return `${title}
${compactions.length === 0 ? `<p>${escaped(withoutCompaction(file))}</p>` : compactions.map(compactionSection).join('\n')}`;
}

function factsOf({ compactions, format, messages, model, counter }: FileAudit): string {
  const facts = [
    format,
    ...(model === undefined ? [] : [model]),
    counted(messages, 'message'),
    counted(compactions.length, 'compaction'),
    `tokens by ${counter}`,
  ];
  return `<p class="dim">${facts.map(escaped).join(' · ')}</p>`;
}

const isLost = ({ agent }: AuditedItem): boolean => agent === 'absent';
const isUsed = ({ neededAt }: AuditedItem): boolean => neededAt !== undefined;
const byBobbin = ({ bobbin }: AuditedItem): boolean => bobbin === 'absent';

function compactionSection(compaction: CompactionAudit, i: number): string {
  const head = `<h3>Compaction ${i + 1}, ${escaped(placeOf(compaction))}</h3>`;
  if (compaction.kind === 'unreadable') return `${head}<p>${UNREADABLE}</p>`;
  const { items } = compaction;
  return `${head}<p>${sizesOf(compaction)}</p>
${items.length === 0 ? '<p>Nothing that matters was said before it.</p>' : chart(totalsOf(items))}
${list(
  'Lost by the summary, used again later',
  items.filter((item) => isLost(item) && isUsed(item)),
  'open',
)}
${list(
  'Lost by the summary',
  items.filter((item) => isLost(item) && !isUsed(item)),
)}
${list(
  'Kept by the summary, lost by Bobbin',
  items.filter((item) => !isLost(item) && byBobbin(item)),
)}
${list(
  'Kept by both',
  items.filter((item) => !isLost(item) && !byBobbin(item)),
)}`;
}

function list(title: string, items: readonly AuditedItem[], state: 'open' | '' = ''): string {
  if (items.length === 0) return '';
  return `<details${state === '' ? '' : ' open'}><summary>${title}: ${items.length}</summary>
<table class="items"><thead><tr><th>class</th><th>item</th><th>said</th><th>used</th><th>summary</th><th>Bobbin</th></tr></thead>
<tbody>
${items.map(itemRow).join('\n')}
</tbody></table></details>`;
}

function chip(name: string, presence: AuditedItem['agent']): string {
  const word = presence === 'absent' ? 'lost' : presence;
  return `<td data-name="${name}"><span class="chip c-${presence}">${word}</span></td>`;
}

function itemRow(item: AuditedItem): string {
  const used = item.neededAt === undefined ? '–' : `m${item.neededAt + 1}`;
  return `<tr${item.neededAt === undefined ? '' : ' class="used"'}><td>${item.class}</td><td class="text">${escaped(item.text)}</td><td data-name="said">m${item.at + 1}, ${item.by}</td><td data-name="used">${used}</td>${chip('summary', item.agent)}${chip('Bobbin', item.bobbin)}</tr>`;
}
