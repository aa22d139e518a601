import { after, before, suite } from 'node:test';
import type { Store } from '@bobbin/core';
import { engineTests } from './engine-tests.ts';
import { erasureTests } from './erasure-tests.ts';
import { headTests } from './head-tests.ts';
import { isolationTests } from './isolation-tests.ts';
import { modelTests } from './model-tests.ts';
import { planTests } from './plan-tests.ts';
import { rankingTests } from './ranking-tests.ts';
import { recallTests } from './recall-tests.ts';
import { threadTests } from './thread-tests.ts';

/** How the suite gets at a store. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Opens what the store has kept once more, as another process would. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

export interface StoreSuiteOptions {
  /** How often random use is compared with the memory store; 3 unless given. */
  readonly randomRuns?: number;
}

/** What every store must do. Call it in a test file of `node:test`; one store serves all the tests. */
export function storeSuite(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { randomRuns = 3 }: StoreSuiteOptions = {},
): void {
  suite(`${name} store`, () => {
    let under: StoreUnderTest;
    before(async () => {
      under = await open();
    });
    after(() => under.close());
    const store = (): Store => under.store;
    threadTests(store);
    planTests(store);
    headTests(store);
    recallTests(store);
    rankingTests(store);
    erasureTests(store, () => under.reopen());
    isolationTests(store);
    modelTests(store, randomRuns);
    engineTests(
      () => under.store,
      () => under.reopen(),
    );
  });
}
