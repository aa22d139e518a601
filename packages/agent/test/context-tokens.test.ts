import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { estimator, usageTokens } from '@bobbin/core/internal';
import { providerServer, type ProviderServer, type ProviderStep } from '@bobbin/testing';
import type { ContextPicture } from '../src/compaction/context-picture.ts';
import { shownCompactions } from '../src/compaction/past-compactions.ts';
import { tokensText } from '../src/figures.ts';
import { NO_USAGE } from '../src/model/usage.ts';
import { CompactionCard } from '../src/tui/compaction-card.ts';
import { Footer } from '../src/tui/footer.ts';
import { themeFor } from '../src/tui/theme.ts';
import type { CompactionEnd } from '../src/events.ts';
import { ofType, workshop, type Workshop, type WorkshopOptions } from './workshop.ts';

const COUNTER = estimator();

const words = (count: number, word: string): string =>
  Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ');

/** A provider whose tokens are those of the estimator, while the engine begins with 1.7 for one of them. */
async function thriftyProvider(t: TestContext): Promise<ProviderServer> {
  const usage = {
    outputTokens: 500,
    get inputTokens(): number {
      return COUNTER.text(server.requests.at(-1)?.text ?? '');
    },
  };
  const answer: ProviderStep = { kind: 'answer', text: words(400, 'w'), usage };
  const server = await providerServer('anthropic', { forever: answer });
  t.after(() => server.close());
  return server;
}

async function talked(t: TestContext, options: Partial<WorkshopOptions> = {}): Promise<Workshop> {
  const { url } = await thriftyProvider(t);
  const shop = await workshop(t, {
    script: '',
    model: 'anthropic/claude-sonnet-5-5@64000',
    env: { ANTHROPIC_API_KEY: 'KEY', ANTHROPIC_BASE_URL: url },
    settings: { compaction: { reserveTokens: 4_000 } },
    ...options,
  });
  for (let i = 0; i < 6; i++) await shop.line(`Question ${i} ${words(1_500, 'fact')}`);
  return shop;
}

/** What the provider reported last. */
function reported({ events }: Workshop): number {
  const usage = ofType(events, 'assistant').at(-1)?.usage;
  return usage === undefined ? 0 : usageTokens(usage);
}

function picture({ events }: Workshop): ContextPicture {
  return ofType(events, 'command').at(-1)?.data as unknown as ContextPicture;
}

/** That two figures are the same within a share of the second. */
function near(actual: number, expected: number, share: number): void {
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} for ${expected}`);
}

test('B4 B18 footer, /context, compaction card and events show the one figure that was reported', async (t) => {
  const shop = await talked(t);
  const before = reported(shop);
  await shop.line('/context');
  const { windowTokens, free, cachePoints: _, messages: __, ...kinds } = picture(shop);
  const used = Object.values(kinds).reduce((sum, tokens) => sum + tokens, 0);
  assert.deepEqual([used, used + free], [before, windowTokens]);
  assert.equal(ofType(shop.events, 'context').at(-1)?.tokens, before);
  await shop.line('/compact');
  const [start] = ofType(shop.events, 'compaction-start');
  const [end] = ofType(shop.events, 'compaction-end');
  const after = ofType(shop.events, 'context').at(-1)?.tokens ?? 0;
  assert.deepEqual(
    [start?.tokensBefore, end?.tokensBefore, end?.tokensAfter],
    [before, before, after],
  );
  await shop.line('/context');
  assert.equal(picture(shop).free, windowTokens - after);
  await shop.line('short');
  near(after, reported(shop) - 500, 0.05);
});

test('C14 what was learnt of a model’s tokens survives /undo, /model and a resume', async (t) => {
  const shop = await talked(t);
  const before = reported(shop);
  await shop.line('/compact');
  await shop.line('short');
  await shop.line('/undo');
  await shop.line('/undo');
  assert.match(ofType(shop.events, 'command').at(-1)?.text ?? '', /compaction is undone/);
  near(shop.agent.session.contextTokens, before, 0.08);
  await shop.line('/model scripted/echo@64000');
  await shop.line('/model anthropic/claude-sonnet-5-5@64000');
  near(shop.agent.session.contextTokens, before, 0.08);
  const next = await shop.again({ session: shop.agent.session.id });
  near(next.agent.session.contextTokens, before, 0.08);
  const fresh = await next.again({ session: '20260101-000000-aaaaaa' });
  await fresh.agent.note({ typed: words(1_500, 'fact') });
  const { handle } = fresh.agent.session;
  near(handle.counter.text('word '.repeat(900)), COUNTER.text('word '.repeat(900)), 0.15);
});

test('an undone compaction does not leave the size that was reported for it', async (t) => {
  const shop = await talked(t);
  const before = reported(shop);
  await shop.line('/compact');
  await shop.line('short');
  assert.ok(reported(shop) < before / 2);
  await shop.line('/undo compaction');
  near(shop.agent.session.contextTokens, before, 0.08);
});

const theme = themeFor({ NO_COLOR: '1' });

/** What the footer, `/context` and the last event show, which is one figure. */
async function shown(shop: Workshop): Promise<string> {
  await shop.line('/context');
  const { windowTokens, free } = picture(shop);
  shop.agent.tellContext();
  const event = ofType(shop.events, 'context').at(-1) ?? assert.fail('no event');
  const footer = new Footer(theme);
  footer.state = { ...event, model: 'm', usage: NO_USAGE, cost: '' };
  const [, inFooter] = /\(([\d.kM]+)\/64k\)/.exec(footer.render(140)[0] ?? '') ?? [];
  assert.equal(inFooter, tokensText(event.tokens), 'the footer');
  assert.equal(windowTokens - free, event.tokens, '/context');
  assert.equal(shop.agent.session.contextTokens, event.tokens, 'the session');
  return tokensText(event.tokens);
}

const cardTitle = (end: CompactionEnd): string =>
  new CompactionCard(theme, end).render(60)[1]?.replace(/─+$/, '') ?? '';

test('B4 B17 B18 footer, /context, card and events agree, also after /undo, /model and a resume', async (t) => {
  const shop = await talked(t);
  const before = await shown(shop);
  assert.equal(before, tokensText(reported(shop)), 'what the provider reported');
  await shop.line('/compact');
  const after = await shown(shop);
  const [end = assert.fail('no compaction')] = ofType(shop.events, 'compaction-end');
  const title = cardTitle(end);
  assert.equal(title, `┌ compaction 1: ${before} → ${after} tokens `);
  const drawnAgain = async ({ agent }: Workshop): Promise<readonly string[]> =>
    (await shownCompactions(agent.session)).map((past) => cardTitle(past.end));
  const resumed = await shop.again({ session: shop.agent.session.id });
  assert.deepEqual([await shown(resumed), await drawnAgain(resumed)], [after, [title]]);
  await resumed.line('/model scripted/echo@64000');
  await resumed.line('/model anthropic/claude-sonnet-5-5@64000');
  assert.deepEqual([await shown(resumed), await drawnAgain(resumed)], [after, [title]]);
  await resumed.line('/undo compaction');
  // What was reported for this prompt before is an estimate now.
  const undone = await shown(resumed);
  near(Number.parseFloat(undone), Number.parseFloat(before), 0.01);
  assert.deepEqual(await drawnAgain(resumed), []);
  await resumed.line('/model scripted/echo@64000');
  await resumed.line('/model anthropic/claude-sonnet-5-5@64000');
  assert.equal(await shown(resumed), undone);
  const again = await resumed.again({ session: resumed.agent.session.id });
  assert.equal(await shown(again), undone);
  await again.line('short');
  assert.equal(await shown(again), tokensText(reported(again)));
});
