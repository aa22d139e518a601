import type { Counter } from '../tokens/counter.ts';
import type { FileRecord, Summary, ToolOutcome } from './summary.ts';

/** Raised when the same summary would render to other bytes. */
export const SUMMARY_RENDER_VERSION = 'v1';

const SECTIONS = [
  'Original Task',
  'Constraints and Preferences',
  'Account',
  'Current State',
  'Open Items',
  'Decisions',
  'Errors & Resolutions',
  'Files',
  'Completed Work',
  'Artifacts',
  'Tool Outcomes',
  'Notes',
  'Turn Context (split turn)',
] as const;
type Section = (typeof SECTIONS)[number];

interface Line {
  readonly section: Section;
  readonly text: string;
  /** Lines of a lower rank are left out last. */
  readonly rank: number;
}

/** The text of a summary: the same data gives the same bytes, sections in a fixed order. */
export function renderSummary(summary: Summary): string {
  return layOut(summary, summaryLines(summary), 0);
}

/**
 * The same text within a number of tokens: what matters least is left out first, and the text says how much was.
 * Undefined where not even the heading fits.
 */
export function fitSummary(
  summary: Summary,
  maxTokens: number,
  counter: Counter,
): string | undefined {
  const lines = summaryLines(summary);
  const whole = layOut(summary, lines, 0);
  if (counter.text(whole) <= maxTokens) return whole;
  const ranked = [...lines.keys()].toSorted(
    (a, b) => lineAt(lines, a).rank - lineAt(lines, b).rank || a - b,
  );
  let low = 0;
  let high = ranked.length;
  let best: string | undefined;
  while (low <= high) {
    const most = (low + high) >> 1;
    const chosen = ranked.slice(0, most).toSorted((a, b) => a - b);
    const text = layOut(
      summary,
      chosen.map((i) => lineAt(lines, i)),
      lines.length - most,
    );
    if (counter.text(text) <= maxTokens) {
      best = text;
      low = most + 1;
    } else high = most - 1;
  }
  return best;
}

function lineAt(lines: readonly Line[], index: number): Line {
  return lines[index] as Line;
}

function layOut(summary: Summary, lines: readonly Line[], leftOut: number): string {
  const out = [`[Summary ${SUMMARY_RENDER_VERSION}, round ${summary.round}]`];
  for (const section of SECTIONS) {
    const own = lines.filter((line) => line.section === section);
    if (own.length === 0) continue;
    out.push('', `## ${section}`, ...own.map((line) => line.text));
  }
  if (leftOut > 0) out.push('', `(${leftOut} more entries left out; recall finds them)`);
  return out.join('\n');
}

function summaryLines(s: Summary): readonly Line[] {
  const lines: Line[] = [];
  const add = (section: Section, rank: number, text: string): void => {
    lines.push({ section, rank, text });
  };
  if (s.task !== null) add('Original Task', 0, s.task);
  for (const f of s.facts) {
    add(
      'Constraints and Preferences',
      f.kind === 'value' ? 4 : 1,
      `- ${f.text} (${f.by}, turn ${f.turn})`,
    );
  }
  if (s.prose !== null) add('Account', 3, s.prose);
  if (s.currentTask !== null) add('Current State', 2, `- Working on: ${s.currentTask}`);
  s.currentPlan.forEach((step, i) => add('Current State', 3, `  ${i + 1}. ${step}`));
  for (const item of s.items) {
    if (item.state === 'done') add('Completed Work', 6, `- [x] ${item.text}`);
    else
      add('Open Items', 2, `- [ ] ${item.text}${priority(item.priority)}${because(item.context)}`);
  }
  for (const d of s.decisions)
    add('Decisions', 4, `- ${d.text}${because(d.rationale)} (turn ${d.turn})`);
  for (const o of s.outcomes) {
    if (o.error === undefined) add('Tool Outcomes', 8, `- ${outcomeText(o)}`);
    else add('Errors & Resolutions', o.resolution === undefined ? 4 : 6, `- ${outcomeText(o)}`);
  }
  for (const f of s.files) add('Files', f.edited || f.written ? 4 : 7, `- ${fileText(f)}`);
  for (const a of s.artifacts)
    add('Artifacts', 5, `- artifact:${a.artifactId}: ${a.description} (${a.hint})`);
  for (const n of s.notes) {
    const source = n.source === undefined ? n.by : `${n.by}: ${n.source}`;
    add('Notes', 7, `- turn ${n.turn}, ${source}: ${n.text}`);
  }
  if (s.splitTurn !== null) add('Turn Context (split turn)', 2, s.splitTurn.text);
  return lines;
}

const priority = (p: string): string => (p === 'medium' ? '' : ` [${p}]`);
const because = (reason: string | undefined): string =>
  reason === undefined ? '' : ` — ${reason}`;

function outcomeText(o: ToolOutcome): string {
  const fields = o.keyFields === undefined ? '' : ` ${JSON.stringify(o.keyFields)}`;
  const error = o.error === undefined ? '' : `: ${o.error}`;
  const end = o.resolution === undefined ? '' : ` → ${o.resolution}`;
  return `${o.tool}(${o.call}): ${o.outcome}${fields}${error}${end}`;
}

function fileText(f: FileRecord): string {
  const done = (['read', 'written', 'edited', 'deleted'] as const).filter((verb) => f[verb]);
  return `${f.path}: ${done.join(', ')}${because(f.note)}`;
}
