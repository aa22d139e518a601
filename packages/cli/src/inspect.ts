import { messageLimit, softLimit, type Counter, type Message } from '@bobbin/core';
import type { SessionCompaction } from '@bobbin/codecs';
import { anatomyOf, type Anatomy, type Limb } from './anatomy.ts';
import { parseOptions, wrap, type Command } from './command.ts';
import { readConversation, type Conversation } from './conversation.ts';
import { EXIT, UsageError } from './failure.ts';
import { counted, grouped, short } from './figures.ts';
import { freedByRung } from './freed.ts';
import { gist } from './gist.ts';
import { heading, windowBars } from './picture.ts';
import { oneLine, stdoutScreen, type Screen } from './screen.ts';
import { promptShares, sharesOf } from './share.ts';
import { readText, sourcesOf, write } from './text-stream.ts';
import { wind, windingFrom, WINDING_OPTIONS, type Winding, type Wound } from './winding.ts';

const { instructions: _, ...OPTIONS } = WINDING_OPTIONS;

export const inspectCommand: Command = {
  name: 'inspect',
  summary: 'shows what is in a transcript and what a policy would do with it',
  operands: '[FILE]',
  about:
    "Shows a transcript's turns, the tokens of each message, which result answers which call, and what a policy would do with it and why. Changes nothing. Without a FILE, or with -, it reads stdin.",
  options: OPTIONS,
  examples: [
    'bobbin inspect session.json',
    'bobbin inspect session.json --preset pi --model claude-opus-5',
    'bobbin inspect --budget 20000 --counter o200k < session.json | less',
  ],
  async run(args) {
    const { values, operands } = parseOptions(args, OPTIONS);
    const [source, ...more] = sourcesOf(operands);
    if (source === undefined || more.length > 0) throw new UsageError('give one FILE');
    const winding = await windingFrom(values);
    const conversation = readConversation(await readText(source), source.name, winding.format);
    const wound = await wind(winding, conversation);
    const lines = draw(stdoutScreen(), source.name, winding, conversation, wound);
    await write(process.stdout, `${lines.join('\n')}\n`);
    return EXIT.done;
  },
};

const ESTIMATED = '  Estimated, on the safe side: no tokenizer is known. --counter names one.';

function draw(
  screen: Screen,
  name: string,
  winding: Winding,
  { format, messages, compactions }: Conversation,
  wound: Wound,
): readonly string[] {
  const anatomy = anatomyOf(messages);
  const facts = [
    format,
    counted(anatomy.turns, 'turn'),
    counted(anatomy.rounds, 'round'),
    counted(messages.length, 'message'),
    counted(anatomy.pairs, 'pair'),
    `${grouped(wound.tokensBefore)} tokens by ${winding.counter.name}`,
  ];
  return [
    heading(screen, name),
    ...factLines(facts, screen.width - 2).map((line) => `  ${line}`),
    ...(winding.counter.name.startsWith('estimate×') ? [screen.paint('dim', ESTIMATED)] : []),
    ...compactions.map((compaction) => compactionRow(screen, compaction, winding.counter)),
    ...messageRows(screen, anatomy, winding.counter),
    '',
    ...forecast(screen, winding, messages, wound),
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
  messages: readonly Message[],
  wound: Wound,
): readonly string[] {
  const { policy, counter, budget } = winding;
  const { fitted } = wound;
  const before = ['now', sharesOf(messages, counter)] as const;
  const after = ['after', promptShares(fitted, counter)] as const;
  return [
    heading(screen, `What the preset ${policy.name} would do`),
    ...reasons(winding, wound).map((line) => `  ${line}`),
    '',
    ...windowBars(screen, budget, fitted.compacted ? [before, after] : [before]),
  ];
}

function reasons(winding: Winding, { fitted, tokensBefore }: Wound): readonly string[] {
  const { budget } = winding;
  const why = fitted.events.flatMap((event) =>
    event.kind === 'check-started' || event.kind === 'postponed' ? [event.reason] : [],
  );
  if (!fitted.compacted)
    return [
      `Nothing: ${grouped(tokensBefore)} tokens, the soft limit is ${grouped(softLimit(budget))}, the limit ${grouped(messageLimit(budget))}.`,
      ...why,
    ];
  const rungs = freedByRung(fitted.events).map(({ strategy, records, freed }) => {
    const proposal = fitted.events.find(
      (event) => event.kind === 'proposal-generated' && event.strategy === strategy,
    );
    const reason = proposal?.kind === 'proposal-generated' ? proposal.reason : '';
    const first = records === 1 ? reason : `${counted(records, 'time')}; first: ${reason}`;
    return `${strategy.padEnd(12)} frees ${short(freed).padStart(7)}   ${first}`;
  });
  const warnings = fitted.events.flatMap((event) =>
    event.kind === 'warning' ? [`warning: ${event.message}`] : [],
  );
  const { tokens, messages } = fitted.prompt;
  const left = `leaves ${grouped(tokens)} tokens in ${counted(messages.length, 'message')}`;
  return [`Compact, because ${why.join('; ')}`, ...rungs, ...warnings, left];
}
