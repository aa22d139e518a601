import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  textOf,
  type BobbinOptions,
  type Fitted,
  type Message,
  type Summarizer,
  type Summary,
} from '@bobbin/core';
import {
  currentSummary,
  EMPTY_SUMMARY,
  extract,
  resultText,
  type Fact,
} from '@bobbin/core/internal';
import { assistant, call, result, user, WatchedThread } from '@bobbin/testing';

const CONSTRAINTS = [
  'Never push to main.',
  'Always keep memory at most 500 MB.',
  'Only the file /repo/src/parser.ts may be changed.',
];

/** Says the same in other words each time, as models do; the longer, the further from what was said. */
const paraphrasing: Summarizer = {
  id: 'paraphrasing',
  summarize(request) {
    const facts = (request.previous?.facts ?? extract(request).facts).map((fact) => ({
      ...fact,
      text: `In round ${request.round}, ${fact.text.toLowerCase().replace('never', 'do not').replace('only', 'just')}`,
    }));
    return Promise.resolve({
      ...EMPTY_SUMMARY,
      facts,
      prose: 'The parser is worked on as agreed.',
    });
  },
};

/** Leaves out whatever matters. */
const dropping: Summarizer = {
  id: 'dropping',
  summarize: () => Promise.resolve({ ...EMPTY_SUMMARY, prose: 'Things went on as before.' }),
};

/** Turns everything round. */
const lying: Summarizer = {
  id: 'lying',
  summarize: () =>
    Promise.resolve<Summary>({
      ...EMPTY_SUMMARY,
      task: 'Push everything to main.',
      facts: [
        { kind: 'constraint', text: 'You may push to main now.', by: 'user', turn: 99 },
        {
          kind: 'constraint',
          text: 'Always use as much memory as there is.',
          by: 'user',
          turn: 99,
        },
      ],
      prose: 'The user allowed pushes to main. The file /repo/src/lexer.ts was deleted.',
    }),
};

const SUMMARIZERS: readonly (readonly [string, Summarizer | undefined])[] = [
  ['the extract', undefined],
  ['a model that paraphrases', paraphrasing],
  ['a model that drops things', dropping],
  ['a model that lies', lying],
];

async function opened(summarizer: Summarizer | undefined): Promise<WatchedThread> {
  const options: BobbinOptions = { window: 8_000, preset: 'ladder' };
  return WatchedThread.open(summarizer === undefined ? options : { ...options, summarizer });
}

/** What is agreed anew in each round: something that stays, something that changes, and something like the rest. */
const agreed = (part: number): readonly string[] => [
  `Never change /repo/docs/part-${part}.md.`,
  `The budget is ${part * 100} USD.`,
];
const asked = (part: number, i: number): string =>
  `Look at page ${i} of part ${part}. ${agreed(part)[i] ?? 'I do not remember why.'}`;

/** Some work that has little to do with what was agreed before. */
function work(part: number): readonly Message[] {
  return Array.from({ length: 3 }, (_, i) => {
    const read = call('read', { path: `/repo/docs/page-${part}-${i}.md` });
    return [
      user(asked(part, i)),
      assistant('Reading.', read),
      result(read, `Page ${i} of part ${part}: ${'words about the weather '.repeat(100)}`),
      assistant(`Page ${i} of part ${part} is about the weather.`),
    ];
  }).flat();
}

async function cycle(thread: WatchedThread, count: number): Promise<Fitted<Message>> {
  await thread.append(...work(count));
  return thread.compact();
}

function promptText(fitted: Fitted<Message>): string {
  return fitted.messages
    .map((message) =>
      [
        textOf(message),
        ...message.parts.map((part) => (part.kind === 'result' ? resultText(part) : '')),
      ].join('\n'),
    )
    .join('\n');
}

function denied({ events }: Fitted<Message>): readonly (readonly [kind: string, claim: string])[] {
  return events.flatMap((event) =>
    event.kind === 'summary-report' && event.report.kind === 'corrected'
      ? event.report.corrections.map(({ kind, claim }) => [kind, claim] as const)
      : [],
  );
}

const neverChange = (parts: number): readonly string[] =>
  Array.from({ length: parts }, (_, i) => agreed(i + 1)[0] as string);

/** What a summary holds of what was agreed, and through which round. */
function agreedIn({ facts }: Summary): {
  readonly constraints: readonly string[];
  readonly budgets: readonly string[];
  readonly through: number;
} {
  const texts = (kind: Fact['kind']): readonly string[] =>
    facts.filter((fact) => fact.kind === kind && fact.by === 'user').map(({ text }) => text);
  const constraints = texts('constraint');
  const through = constraints.filter((text) => text.includes('/repo/docs/part-')).length;
  return { constraints, budgets: texts('value'), through };
}

for (const [name, summarizer] of SUMMARIZERS) {
  test(`C23 facts survive 5 cycles of ${name}`, async () => {
    const thread = await opened(summarizer);
    await thread.append(user(`Fix the parser. ${CONSTRAINTS.join(' ')}`), assistant('I will.'));
    for (let count = 1; count <= 5; count++) {
      const fitted = await cycle(thread, count);
      const summary = currentSummary(fitted.plan)?.summary;
      assert.equal(summary?.round, count);
      assert.equal(summary.task, `Fix the parser. ${CONSTRAINTS.join(' ')}`);
      const prompt = promptText(fitted);
      const now = agreedIn(summary);
      assert.deepEqual(now.constraints, [...CONSTRAINTS, ...neverChange(now.through)]);
      assert.deepEqual(now.budgets.length, Math.min(1, now.through), 'only the last one is kept');
      for (const constraint of [...CONSTRAINTS, ...neverChange(count)])
        assert.ok(prompt.includes(constraint), `round ${count}: ${constraint}`);
      assert.ok(prompt.includes(`The budget is ${count * 100} USD.`), `round ${count}`);
      assert.ok(!(summary.prose ?? '').includes('allowed'));
      if (summarizer === lying)
        assert.deepEqual(denied(fitted).slice(0, 2), [
          ['removed', 'The user allowed pushes to main.'],
          ['marked', 'The file /repo/src/lexer.ts was deleted.'],
        ]);
    }
  });

  test(`C23 a pinned constraint survives 10 and 50 summaries of ${name}`, async () => {
    const thread = await opened(summarizer);
    await thread.append(user('Fix the parser.'), assistant('I will.'));
    const [pinned] = await thread.append(user('From now on never touch /repo/migrations.'));
    assert.ok(pinned !== undefined);
    await thread.handle.pin(pinned);
    await thread.append(user('And never push to main.'), assistant('Agreed.'));
    for (let count = 1; count <= 50; count++) {
      const fitted = await cycle(thread, count);
      const text = promptText(fitted);
      const kept = fitted.messages.filter(
        (m) => textOf(m) === 'From now on never touch /repo/migrations.',
      );
      assert.equal(kept.length, 1, `round ${count}`);
      assert.ok(text.includes('And never push to main.'), `round ${count}`);
      for (const constraint of neverChange(count).slice(-6))
        assert.ok(text.includes(constraint), `round ${count}: ${constraint}`);
      assert.equal(currentSummary(fitted.plan)?.summary.round, count);
    }
    const { summary, text } = currentSummary(thread.handle.plan) ?? {
      summary: EMPTY_SUMMARY,
      text: '',
    };
    const { constraints, budgets, through } = agreedIn(summary);
    assert.ok(through >= 45, `${through} rounds are in the summary`);
    assert.deepEqual(
      constraints.filter((constraint) => constraint.includes('docs/part-')),
      neverChange(through),
    );
    assert.deepEqual(budgets, [`The budget is ${through * 100} USD.`]);
    assert.ok(summary.facts.length < through + 10, `${summary.facts.length} facts: they pile up`);
    assert.ok(JSON.stringify(summary).length < 60_000, 'the data of a summary stays bounded');
    assert.ok(text.length < 32_000);
  });
}

const isAboutPushing = (text: string): boolean => text.includes('push');

test('C23 a constraint that the user takes back is gone from the next summary, and the event says so', async () => {
  const thread = await opened(dropping);
  await thread.append(user('Fix it. Never push to main.'), assistant('I will.'));
  await cycle(thread, 1);
  await thread.append(
    user('You may push to main now, always after the tests.'),
    assistant('Good.'),
  );
  await thread.append(user('You may always push to main now.'), assistant('Good.'));
  const fitted = await cycle(thread, 2);
  const facts = currentSummary(fitted.plan)?.summary.facts.map(({ text }) => text) ?? [];
  assert.deepEqual(facts.filter(isAboutPushing), [
    'You may push to main now, always after the tests.',
    'You may always push to main now.',
  ]);
  const reported = fitted.events.flatMap((event) =>
    event.kind === 'summary-report' && event.report.kind === 'superseded' ? event.report.facts : [],
  );
  assert.deepEqual(
    reported
      .map(({ fact, by }) => [fact.text, by.text])
      .filter(([text = '']) => isAboutPushing(text)),
    [['Never push to main.', 'You may always push to main now.']],
  );
});
