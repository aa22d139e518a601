import { writeFile } from 'node:fs/promises';
import { textOf, type Message, type Prompt } from '@bobbin/core';
import {
  messageLimit,
  PRESETS,
  startsTurn,
  type PlanRecord,
  type PromptMessage,
} from '@bobbin/core/internal';
import { hanging, oneLine } from '../output/columns.ts';
import { readConversation } from '../input/conversation.ts';
import { usualCounter } from './counters.ts';
import { EXIT } from '../failure.ts';
import { counted, duration, grouped } from '../output/figures.ts';
import { freedByRung } from './freed-by-rung.ts';
import { gist } from '../inspect/gist.ts';
import { heading, rungBars, windowBars } from '../output/picture.ts';
import { readSample } from '../input/sample.ts';
import { stdoutScreen, type Screen } from '../output/screen.ts';
import { promptShares, sharesOf } from './token-shares.ts';
import { transcriptBudget, compacted, type CompactSettings, type Compacted } from './compacted.ts';

/** Small enough for every rung to be needed. */
const WINDOW_TOKENS = 64_000;

/** Compacts the sample and draws the result, or only saves it to a file, and returns the exit code. */
export async function demonstrate(save: string | undefined): Promise<number> {
  const session = readSample();
  if (save !== undefined) {
    await writeFile(save, session);
    return EXIT.done;
  }
  const settings: CompactSettings = {
    policy: PRESETS.ladder,
    // The exact counter, if its tokenizer is installed.
    counter: await usualCounter('gpt-5'),
    budget: transcriptBudget(WINDOW_TOKENS),
  };
  const conversation = readConversation(session, 'the sample', 'openai');
  const result = await compacted(settings, conversation);
  const lines = draw(stdoutScreen(), settings, conversation.messages, result);
  process.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.done;
}

function draw(
  screen: Screen,
  settings: CompactSettings,
  messages: readonly Message[],
  result: Compacted,
): readonly string[] {
  const { fitted } = result;
  const turns = messages.filter(startsTurn).length;
  return [
    '',
    heading(screen, 'A long session, compacted to fit'),
    ...paragraph(
      screen,
      `${counted(turns, 'turn')}, ${counted(messages.length, 'message')}, ${grouped(result.tokensBefore)} tokens by ${settings.counter.name}; the window holds ${grouped(settings.budget.windowTokens)}.`,
    ),
    '',
    ...windowBars(screen, settings.budget, [
      ['before', sharesOf(messages, settings.counter)],
      ['after', promptShares(fitted, settings.counter)],
    ]),
    '',
    heading(screen, 'What each rung freed'),
    ...rungBars(
      screen,
      settings.policy.ladder.map(({ name }) => name),
      freedByRung(fitted.events),
    ),
    '',
    heading(screen, 'Which spans became what'),
    ...spans(screen, result),
    '',
    heading(screen, 'What the model reads now'),
    ...reading(screen, fitted.prompt),
    '',
    ...paragraph(
      screen,
      `Compacted in ${screen.paint('bold', duration(result.millis))}, without asking a model. Nothing is lost: the thread keeps all ${counted(messages.length, 'message')}, and ${grouped(messageLimit(settings.budget) - fitted.prompt.tokens)} tokens are free for what comes next.`,
    ),
    '',
    heading(screen, 'Try next'),
    '  npx bobbin demo --save session.json',
    `  npx bobbin inspect session.json --counter ${settings.counter.name}`,
    `  npx bobbin compact session.json --window ${WINDOW_TOKENS} --out compacted.json`,
    '',
  ];
}

function paragraph({ width }: Screen, text: string): readonly string[] {
  return hanging('  ', text, width);
}

const MOST_SPANS = 6;

/** One row a record; results of one turn that became excerpts share a row. */
function spans(screen: Screen, { fitted }: Compacted): readonly string[] {
  const groups = new Map<string, PlanRecord[]>();
  for (const record of fitted.plan.records) {
    const { firstTurn, ids } = record.span;
    const name = `${record.kind} ${record.kind === 'externalize' ? firstTurn : ids[0]}`;
    groups.set(name, [...(groups.get(name) ?? []), record]);
  }
  const rows = [...groups.values()]
    .toSorted((a, b) => turnOf(a) - turnOf(b))
    .map((records) => spanRow(screen, records));
  const left = rows.length - MOST_SPANS;
  return left <= 0
    ? rows.flat()
    : [...rows.slice(0, MOST_SPANS).flat(), screen.paint('dim', `  … and ${left} more`)];
}

function turnOf([record]: readonly PlanRecord[]): number {
  return record?.span.firstTurn ?? 0;
}

function spanRow({ width }: Screen, records: readonly PlanRecord[]): readonly string[] {
  const [first] = records;
  if (first === undefined) return [];
  const { firstTurn, lastTurn } = first.span;
  const turns = firstTurn === lastTurn ? `turn ${firstTurn}` : `turns ${firstTurn}–${lastTurn}`;
  const messages = records.reduce((sum, { span }) => sum + span.ids.length, 0);
  const noun = first.kind === 'externalize' ? 'result' : 'message';
  const head = `  ${turns.padEnd(12)}${counted(messages, noun).padEnd(14)}→ `;
  return hanging(head, oneLine(became(first), width), width);
}

function became(record: PlanRecord): string {
  switch (record.kind) {
    case 'summarize':
      return `one summary of ${grouped(record.summaryTokens)} tokens`;
    case 'externalize':
      return 'an excerpt each; the whole is in artifacts';
    case 'clear':
      return 'their key fields';
    case 'drop':
      return `an index entry: ${record.index.keywords.slice(0, 5).join(', ')}`;
  }
}

const SUMMARY_LINES = 12;
const LAST_MESSAGES = 2;

/** What the prompt holds, abridged: what was made, what the user said, and how it ends. The rest is counted. */
function reading(screen: Screen, { messages }: Prompt): readonly string[] {
  const lines: string[] = [];
  let between: PromptMessage[] = [];
  messages.forEach((shown, i) => {
    const { message, source } = shown;
    const isMade = source.kind === 'record';
    const isLast = i >= messages.length - LAST_MESSAGES;
    if (!isMade && !isLast && message.role !== 'system' && !startsTurn(message)) {
      between.push(shown);
      return;
    }
    if (between.length > 0) lines.push(aside(screen, inBetween(between)));
    between = [];
    lines.push(row(screen, message.role, isMade ? firstLine(textOf(message)) : gist(message)));
    if (isMade) lines.push(...summaryLines(screen, textOf(message)));
  });
  return lines;
}

function inBetween(messages: readonly PromptMessage[]): string {
  const changed = messages.filter(({ source }) => source.kind !== 'kept').length;
  const shortened = changed === 0 ? '' : `, ${changed} shortened`;
  return `… ${counted(messages.length, 'message')}${shortened}`;
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}

const ROLE = 11;

function row(screen: Screen, role: string, text: string): string {
  const line = oneLine(text, screen.width - ROLE - 2);
  return `  ${screen.paint('cyan', role.padEnd(ROLE))}${line}`;
}

function aside(screen: Screen, text: string): string {
  return screen.paint('dim', `  ${' '.repeat(ROLE)}${text}`);
}

function summaryLines(screen: Screen, text: string): readonly string[] {
  const lines = text.split('\n').filter((line, i) => i > 0 && line.trim() !== '');
  const left = lines.length - SUMMARY_LINES;
  return [
    ...lines.slice(0, SUMMARY_LINES).map((line) => row(screen, '', line)),
    ...(left > 0 ? [aside(screen, `… ${counted(left, 'line')} more`)] : []),
  ];
}
