import type { Counter, Fitted, Message } from '@bobbin/core';
import { isKnownModel, messageLimit, STRICT_RULES } from '@bobbin/core/internal';
import type { SessionCompaction } from '@bobbin/codecs';
import {
  accountOf,
  causeTexts,
  uncompactedAccount,
  type Account,
} from '../compact/token-account.ts';
import { partsOf, type ConversationParts, type PlacedMessage } from './conversation-parts.ts';
import { columns, hanging, oneLine, sideBySide } from '../output/columns.ts';
import { readConversation, type Conversation } from '../input/conversation.ts';
import { EXIT, UsageError } from '../failure.ts';
import { counted, grouped, groupedIn, signed } from '../output/figures.ts';
import type { RungTotal } from '../compact/freed-by-rung.ts';
import { gist } from './gist.ts';
import type { InspectValues } from '../commands/inspect.ts';
import { became, heading, windowBars } from '../output/picture.ts';
import { stdoutScreen, type Screen } from '../output/screen.ts';
import { plainPicture } from '../output/plain-text.ts';
import { promptShares, sharesOf } from '../compact/token-shares.ts';
import { readText, sourcesOf, write } from '../input/text-stream.ts';
import {
  compacted,
  settingsFor,
  requestFrom,
  type CompactSettings,
  type Compacted,
} from '../compact/compacted.ts';

/** Draws the one transcript that the operands name, and what would be done with it, and gives the exit code. */
export async function inspect(operands: readonly string[], values: InspectValues): Promise<number> {
  const [source, ...more] = sourcesOf(operands);
  if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
  const request = requestFrom(values);
  const conversation = readConversation(await readText(source), source.name, request.format);
  const settings = await settingsFor(request, conversation);
  const result = await compacted(settings, conversation);
  const lines = draw(stdoutScreen(), source.name, settings, conversation, result);
  await write(process.stdout, `${plainPicture(lines).join('\n')}\n`);
  return EXIT.done;
}

/** Why the figures are an estimate, if they are. */
function estimated(screen: Screen, { counter, model }: CompactSettings): readonly string[] {
  if (!counter.name.startsWith('estimate×')) return [];
  const why =
    model === undefined || !isKnownModel(model)
      ? 'no tokenizer is known; --counter names one'
      : `the tokenizer of ${model} is not public`;
  return hanging('  ', `Estimated, on the safe side: ${why}.`, screen.width).map((line) =>
    screen.paint('dim', line),
  );
}

function draw(
  screen: Screen,
  name: string,
  settings: CompactSettings,
  conversation: Conversation,
  result: Compacted,
): readonly string[] {
  const { format, messages, compactions } = conversation;
  const parts = partsOf(messages);
  const facts = [
    format,
    ...(settings.model === undefined ? [] : [oneLine(settings.model, screen.width)]),
    counted(parts.turns, 'turn'),
    counted(parts.rounds, 'round'),
    counted(messages.length, 'message'),
    counted(parts.pairs, 'pair'),
    `${grouped(result.tokensBefore)} tokens by ${settings.counter.name}`,
  ];
  return [
    heading(screen, oneLine(name, screen.width)),
    ...sideBySide(facts, ' ·', screen.width - 2).map((line) => `  ${line}`),
    ...estimated(screen, settings),
    ...compactions.flatMap((compaction) => compactionLines(screen, compaction, settings.counter)),
    ...messageRows(screen, parts, settings.counter),
    '',
    ...forecast(screen, settings, conversation, result),
  ];
}

/** What the harness compacted itself: the messages are shown as if it had not. */
function compactionLines(
  screen: Screen,
  { summary, after, firstKept, tokensBefore }: SessionCompaction,
  counter: Counter,
): readonly string[] {
  const size = tokensBefore === undefined ? '' : ` of ${grouped(tokensBefore)} tokens`;
  const made =
    summary === '' ? 'what only its provider reads' : `${grouped(counter.text(summary))} tokens`;
  const text = `Compacted by its harness after m${after}: ${counted(firstKept, 'message')}${size} → ${made}`;
  return hanging('  ', text, screen.width).map((line) => screen.paint('yellow', line));
}

const BAR = 8;
/** Below this width a row does without its bar. */
const WIDTH_FOR_BARS = 70;
/** Below this width the text of a message has a separate line. */
const WIDTH_FOR_ROWS = 54;

/** A row for each message, under a heading for each turn. */
function messageRows(
  screen: Screen,
  { placed }: ConversationParts,
  counter: Counter,
): readonly string[] {
  const sizes = placed.map(({ message }) => counter.message(message));
  const most = Math.max(1, ...sizes);
  const nameWidth = Math.max(4, placed.at(-1)?.name.length ?? 0);
  const lines: string[] = [];
  let turn = -1;
  placed.forEach((message, i) => {
    if (message.turn !== turn) {
      turn = message.turn;
      const tokens = sizes.reduce((sum, size, j) => sum + (placed[j]?.turn === turn ? size : 0), 0);
      const name = turn === 0 ? 'Before the first turn' : `Turn ${turn}`;
      lines.push(
        '',
        `${heading(screen, name)}  ${screen.paint('dim', `${grouped(tokens)} tokens`)}`,
      );
    }
    lines.push(...messageRow(screen, message, sizes[i] ?? 0, { most, nameWidth }));
  });
  return lines;
}

function messageRow(
  screen: Screen,
  message: PlacedMessage,
  tokens: number,
  { most, nameWidth }: { most: number; nameWidth: number },
): readonly string[] {
  const isApart = screen.width < WIDTH_FOR_ROWS;
  const cells = '█'.repeat(Math.round((tokens / most) * BAR)).padEnd(BAR);
  const bar = isApart || screen.width >= WIDTH_FOR_BARS ? `${screen.paint('cyan', cells)} ` : '';
  const figures = `${message.name.padStart(nameWidth)} ${message.message.role.padEnd(9)} ${grouped(tokens).padStart(7)} `;
  const head = isApart ? ' '.repeat(nameWidth + 1) : `${figures}${bar}`;
  const text = oneLine(describe(message), screen.width - columns(head));
  const broken = message.unanswered.length > 0 || message.answers.includes(undefined);
  const line = head + (broken ? screen.paint('red', text) : text);
  return isApart ? [`${figures}${bar}`.trimEnd(), line] : [line];
}

/** A result by what it answers, anything else by what it says; what is broken comes first. */
function describe({ message, answers, unanswered }: PlacedMessage): string {
  if (answers.length > 0)
    return answers.map((call) => `↳ ${call ?? 'a result without its call'}`).join('  ');
  const open = unanswered.length === 0 ? '' : `(no result: ${unanswered.join(', ')})  `;
  return open + gist(message);
}

/** What the policy would do, and why. */
function forecast(
  screen: Screen,
  settings: CompactSettings,
  { messages, codec }: Conversation,
  { fitted }: Compacted,
): readonly string[] {
  const { policy, counter, budget } = settings;
  const withoutRecords = uncompactedAccount(messages, codec.rules ?? STRICT_RULES, counter);
  const before = ['now', sharesOf(messages, counter)] as const;
  const after = ['after', promptShares(fitted, counter)] as const;
  const why = fitted.compacted
    ? [compactingBecause(fitted, withoutRecords)]
    : resting(settings, fitted, withoutRecords);
  return [
    heading(screen, `What the preset ${policy.name} would do`),
    ...why.flatMap((text) => hanging('  ', text, screen.width)),
    '',
    ...(fitted.compacted ? [...accountRows(screen, settings, messages, fitted), ''] : []),
    ...windowBars(screen, budget, fitted.compacted ? [before, after] : [before]),
  ];
}

function resting(
  { budget }: CompactSettings,
  fitted: Fitted<unknown>,
  withoutRecords: Account,
): readonly string[] {
  const limits = `the limit is ${grouped(messageLimit(budget))}.`;
  return [`Nothing: ${grouped(withoutRecords.said)} tokens, ${limits}`, ...whyOf(fitted)];
}

function whyOf({ events }: Fitted<unknown>): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'check-started' || event.kind === 'postponed' ? [groupedIn(event.reason)] : [],
  );
}

/** The reason counts what would be sent: if that is not what was said, the difference is shown. */
function compactingBecause(fitted: Fitted<unknown>, withoutRecords: Account): string {
  const differences = causeTexts(withoutRecords).map(
    ([tokens, text]) => `${signed(tokens)} ${text}`,
  );
  const counting =
    differences.length === 0
      ? ''
      : ` (${grouped(withoutRecords.said)} were said, ${differences.join(', ')})`;
  return `Compact, because ${whyOf(fitted).join('; ')}${counting}`;
}

const FIGURE = 9;

/** What was said, what each rung frees, and what else makes the prompt what it is: the column adds up. */
function accountRows(
  { width }: Screen,
  { counter }: CompactSettings,
  messages: readonly Message[],
  fitted: Fitted<unknown>,
): readonly string[] {
  const account = accountOf(messages, fitted, counter);
  const row = (figure: string, text: string): readonly string[] =>
    hanging(`  ${figure.padStart(FIGURE)}  `, text, width);
  const warnings = fitted.events.flatMap((event) =>
    event.kind === 'warning' ? hanging('  ', `warning: ${event.message}`, width) : [],
  );
  const { prompt } = fitted;
  return [
    ...row(grouped(account.said), `tokens in ${counted(messages.length, 'message')}`),
    ...account.rungs.flatMap((rung) => row(signed(-rung.freed), rungText(rung, fitted, counter))),
    ...causeTexts(account).flatMap(([tokens, text]) => row(signed(tokens), text)),
    ...row(grouped(prompt.tokens), `tokens left in ${counted(prompt.messages.length, 'message')}`),
    ...row('', netText(fitted)).filter((line) => line.trim() !== ''),
    ...warnings,
  ];
}

/** What the compaction costs if a provider caches prompts, and when it has paid; nothing if there was none. */
function netText({ events }: Fitted<unknown>): string {
  const done = events.findLast((event) => event.kind === 'completed');
  if (done?.kind !== 'completed' || done.rewrittenTokens === 0) return '';
  const cost = `${grouped(done.rewrittenTokens)} tokens are written to the cache again`;
  return done.paysAfterRequests === undefined
    ? cost
    : `${cost}; that has paid after ${counted(done.paysAfterRequests, 'request')}`;
}

function rungText(
  rung: RungTotal,
  { events, prompt, plan }: Fitted<unknown>,
  counter: Counter,
): string {
  const text = `${rung.strategy}: ${became(rung)}`;
  const summarized = events.findLast(
    (event) => event.kind === 'summarized' && event.strategy === rung.strategy,
  );
  if (summarized?.kind !== 'summarized') return text;
  const tokens = prompt.messages
    .filter(
      ({ source }) => source.kind === 'record' && plan.records[source.record]?.kind === 'summarize',
    )
    .reduce((sum, { message }) => sum + counter.message(message), 0);
  return `${text} of ${grouped(tokens)} tokens, up to turn ${summarized.span.lastTurn}`;
}
