import {
  isKnownModel,
  messageLimit,
  softLimit,
  STRICT_RULES,
  type Counter,
  type Fitted,
  type Message,
} from '@bobbin/core';
import type { SessionCompaction } from '@bobbin/codecs';
import { accountOf, causeTexts, unwoundAccount, type Account } from './account.ts';
import { anatomyOf, type Anatomy, type Limb } from './anatomy.ts';
import { wrap } from './command.ts';
import { readConversation, type Conversation } from './conversation.ts';
import { EXIT, UsageError } from './failure.ts';
import { counted, grouped, groupedIn, signed } from './figures.ts';
import type { RungTotal } from './freed.ts';
import { gist } from './gist.ts';
import type { InspectValues } from './inspect.ts';
import { heading, windowBars } from './picture.ts';
import { oneLine, stdoutScreen, type Screen } from './screen.ts';
import { promptShares, sharesOf } from './share.ts';
import { readText, sourcesOf, write } from './text-stream.ts';
import { wind, windingFor, wishFrom, type Winding, type Wound } from './winding.ts';

/** Draws the one transcript that the operands name, and what would be done with it, and gives the exit code. */
export async function inspect(operands: readonly string[], values: InspectValues): Promise<number> {
  const [source, ...more] = sourcesOf(operands);
  if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
  const wish = wishFrom(values);
  const conversation = readConversation(await readText(source), source.name, wish.format);
  const winding = await windingFor(wish, conversation);
  const wound = await wind(winding, conversation);
  const lines = draw(stdoutScreen(), source.name, winding, conversation, wound);
  await write(process.stdout, `${lines.join('\n')}\n`);
  return EXIT.done;
}

/** Why the figures are an estimate, where they are. */
function estimated({ counter, model }: Winding): readonly string[] {
  if (!counter.name.startsWith('estimate×')) return [];
  const why =
    model === undefined || !isKnownModel(model)
      ? 'no tokenizer is known; --counter names one'
      : `the tokenizer of ${model} is not public`;
  return [`  Estimated, on the safe side: ${why}.`];
}

function draw(
  screen: Screen,
  name: string,
  winding: Winding,
  conversation: Conversation,
  wound: Wound,
): readonly string[] {
  const { format, messages, compactions } = conversation;
  const anatomy = anatomyOf(messages);
  const facts = [
    format,
    ...(winding.model === undefined ? [] : [winding.model]),
    counted(anatomy.turns, 'turn'),
    counted(anatomy.rounds, 'round'),
    counted(messages.length, 'message'),
    counted(anatomy.pairs, 'pair'),
    `${grouped(wound.tokensBefore)} tokens by ${winding.counter.name}`,
  ];
  return [
    heading(screen, name),
    ...factLines(facts, screen.width - 2).map((line) => `  ${line}`),
    ...estimated(winding).map((line) => screen.paint('dim', line)),
    ...compactions.map((compaction) => compactionRow(screen, compaction, winding.counter)),
    ...messageRows(screen, anatomy, winding.counter),
    '',
    ...forecast(screen, winding, conversation, wound),
  ];
}

/** Facts side by side; a line breaks between two of them. */
function factLines(facts: readonly string[], width: number): readonly string[] {
  const unbroken = facts.map((fact) => fact.replaceAll(' ', '\u00A0')).join('\u00A0· ');
  return wrap(unbroken, width).map((line) => line.replaceAll('\u00A0', ' '));
}

/** What the harness compacted itself: the messages are shown as if it had not. */
function compactionRow(
  screen: Screen,
  { summary, after, firstKept, tokensBefore }: SessionCompaction,
  counter: Counter,
): string {
  const size = tokensBefore === undefined ? '' : ` of ${grouped(tokensBefore)} tokens`;
  const made =
    summary === '' ? 'what only its provider reads' : `${grouped(counter.text(summary))} tokens`;
  const text = `Compacted by its harness at message ${after}: ${counted(firstKept, 'message')}${size} → ${made}`;
  return `  ${screen.paint('yellow', oneLine(text, screen.width - 2))}`;
}

const BAR = 8;
const INDEX = 4;

/** One row a message under a heading for each turn. */
function messageRows(screen: Screen, { limbs }: Anatomy, counter: Counter): readonly string[] {
  const sizes = limbs.map(({ message }) => counter.message(message));
  const most = Math.max(1, ...sizes);
  const lines: string[] = [];
  let turn = -1;
  limbs.forEach((limb, i) => {
    if (limb.turn !== turn) {
      turn = limb.turn;
      const tokens = sizes.reduce((sum, size, j) => sum + (limbs[j]?.turn === turn ? size : 0), 0);
      const name = turn === 0 ? 'Before the first turn' : `Turn ${turn}`;
      lines.push(
        '',
        `${heading(screen, name)}  ${screen.paint('dim', `${grouped(tokens)} tokens`)}`,
      );
    }
    lines.push(messageRow(screen, limb, sizes[i] ?? 0, most));
  });
  return lines;
}

function messageRow(screen: Screen, limb: Limb, tokens: number, most: number): string {
  const { index, message } = limb;
  const cells = '█'.repeat(Math.round((tokens / most) * BAR));
  const head = `${String(index).padStart(INDEX)} ${message.role.padEnd(9)} ${grouped(tokens).padStart(7)} `;
  const room = screen.width - head.length - BAR - 1;
  const text = oneLine(describe(limb), room);
  const broken = limb.unanswered.length > 0 || limb.answers.includes(undefined);
  return `${head}${screen.paint('cyan', cells.padEnd(BAR))} ${broken ? screen.paint('red', text) : text}`;
}

/** A result by what it answers, anything else by what it says; what is broken comes first. */
function describe({ message, answers, unanswered }: Limb): string {
  if (answers.length > 0)
    return answers.map((call) => `↳ ${call ?? 'a result without its call'}`).join('  ');
  const open = unanswered.length === 0 ? '' : `(no result: ${unanswered.join(', ')})  `;
  return open + gist(message);
}

/** What the policy would do, and why. */
function forecast(
  screen: Screen,
  winding: Winding,
  { messages, codec }: Conversation,
  { fitted }: Wound,
): readonly string[] {
  const { policy, counter, budget } = winding;
  const unwound = unwoundAccount(messages, codec.rules ?? STRICT_RULES, counter);
  const before = ['now', sharesOf(messages, counter)] as const;
  const after = ['after', promptShares(fitted, counter)] as const;
  const told = fitted.compacted
    ? [compactingBecause(fitted, unwound), '', ...accountRows(winding, messages, fitted)]
    : resting(winding, fitted, unwound);
  return [
    heading(screen, `What the preset ${policy.name} would do`),
    ...told.map((line) => (line === '' ? '' : `  ${line}`)),
    '',
    ...windowBars(screen, budget, fitted.compacted ? [before, after] : [before]),
  ];
}

function resting(
  { budget }: Winding,
  fitted: Fitted<unknown>,
  unwound: Account,
): readonly string[] {
  const limits = `the soft limit is ${grouped(softLimit(budget))}, the limit ${grouped(messageLimit(budget))}.`;
  return [`Nothing: ${grouped(unwound.said)} tokens, ${limits}`, ...whyOf(fitted)];
}

function whyOf({ events }: Fitted<unknown>): readonly string[] {
  return events.flatMap((event) =>
    event.kind === 'check-started' || event.kind === 'postponed' ? [groupedIn(event.reason)] : [],
  );
}

/** The reason counts what would be sent: where that is not what was said, the difference is told. */
function compactingBecause(fitted: Fitted<unknown>, unwound: Account): string {
  const differences = causeTexts(unwound).map(([tokens, text]) => `${signed(tokens)} ${text}`);
  const counting =
    differences.length === 0
      ? ''
      : ` (${grouped(unwound.said)} were said, ${differences.join(', ')})`;
  return `Compact, because ${whyOf(fitted).join('; ')}${counting}`;
}

const FIGURE = 9;

function row(figure: string, text: string): string {
  return `${figure.padStart(FIGURE)}  ${text}`;
}

/** What was said, what each rung frees, and what else makes the prompt what it is: the column adds up. */
function accountRows(
  { counter }: Winding,
  messages: readonly Message[],
  fitted: Fitted<unknown>,
): readonly string[] {
  const account = accountOf(messages, fitted, counter);
  const warnings = fitted.events.flatMap((event) =>
    event.kind === 'warning' ? [`warning: ${event.message}`] : [],
  );
  const { prompt } = fitted;
  return [
    row(grouped(account.said), `tokens in ${counted(messages.length, 'message')}`),
    ...account.rungs.map((rung) => row(signed(-rung.freed), rungText(rung, fitted, counter))),
    ...causeTexts(account).map(([tokens, text]) => row(signed(tokens), text)),
    row(grouped(prompt.tokens), `tokens left in ${counted(prompt.messages.length, 'message')}`),
    ...warnings,
  ];
}

function rungText(
  { strategy, records }: RungTotal,
  { events, prompt, plan }: Fitted<unknown>,
  counter: Counter,
): string {
  const first = events.find(
    (event) => event.kind === 'proposal-generated' && event.strategy === strategy,
  );
  const reason = first?.kind === 'proposal-generated' ? groupedIn(first.reason) : '';
  const text = records === 1 ? reason : `${counted(records, 'time')}; first: ${reason}`;
  const isSummarizing = events.some(
    (event) => event.kind === 'summarized' && event.strategy === strategy,
  );
  if (!isSummarizing) return `${strategy}: ${text}`;
  const summary = prompt.messages
    .filter(
      ({ source }) => source.kind === 'record' && plan.records[source.record]?.kind === 'summarize',
    )
    .reduce((sum, { message }) => sum + counter.message(message), 0);
  return `${strategy}: ${text}; the summary takes ${grouped(summary)}`;
}
