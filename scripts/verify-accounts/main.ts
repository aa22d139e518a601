// Measures verification on the summaries of recorded conversations: how many of their sentences it keeps, and how many
// lies made from them it finds. Prints each sentence that it removes or corrects with the message that contradicts it.
//
//   npm run verify-accounts [-- --quiet] [--any] [--missed] [--seed=N]
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  nameOf,
  chars4,
  cleanExtract,
  cleanAccount,
  EMPTY_SUMMARY,
  Evidence,
  pathsIn,
  sentencesOf,
  verify,
  wholeText,
  type Correction,
  type Node,
} from '@bobbin/core/internal';
import { liesFrom, seeded, type Lie, type LieKind } from './lies.ts';
import { recordedAccounts, type RecordedAccount } from './recorded.ts';

const LIES_OF_A_KIND = 50;
/** A sentence is taken for true where one line of the messages says so much of it. */
const SAID = 0.6;
const MUCH_SPACE = 100_000;

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const folder = join(root, '..', 'shared', 'transcripts');
/** Lies are made from any sentence, also from those that no line of the messages says. */
const isAny = process.argv.includes('--any');
const isQuiet = process.argv.includes('--quiet');
/** Which lies are made and taken. */
const SEED = Number(process.argv.find((one) => one.startsWith('--seed='))?.slice(7) ?? 7);

interface Prepared extends RecordedAccount {
  readonly sentences: readonly string[];
  readonly lies: readonly Lie[];
}

function prepare(account: RecordedAccount, random: () => number): Prepared {
  const sentences = [...new Set(cleanAccount(account.summary).split('\n').flatMap(sentencesOf))];
  const said = account.nodes.map(({ message }) => wholeText(message)).join('\n');
  const files = [...new Set(pathsIn(said).map(nameOf))].filter((name) =>
    /^[\w.-]{4,40}$/.test(name),
  );
  const evidence = new Evidence(sentences, account.nodes, { user: [], assistant: [] });
  const spoken = new Set(withoutCode(cleanAccount(account.summary)).flatMap(sentencesOf));
  const lies = sentences
    .filter((one) => spoken.has(one) && (isAny || (evidence.matches(one)[0]?.share ?? 0) >= SAID))
    .flatMap((one) => liesFrom(one, said, files, random));
  return { ...account, sentences, lies };
}

function withoutCode(text: string): readonly string[] {
  let isCode = false;
  return text.split('\n').filter((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    return !isCode && !isFence;
  });
}

/** The account as verification leaves it where it has all the space it wants, and what was changed in it. */
function checked(
  nodes: readonly Node[],
  prose: string,
): { text: string; corrections: readonly Correction[] } {
  const request = {
    nodes,
    previous: null,
    task: null,
    round: 1,
    maxTokens: MUCH_SPACE,
    counter: chars4(),
  };
  const truth = cleanExtract(request);
  const { summary, corrections } = verify({ ...EMPTY_SUMMARY, prose }, { ...request, truth });
  return { text: summary.prose ?? '', corrections };
}

function chosenLies(
  all: readonly Prepared[],
  random: () => number,
): ReadonlyMap<Prepared, readonly Lie[]> {
  const pool = all.flatMap((account) => account.lies.map((lie) => ({ account, lie })));
  const chosen = new Map<Prepared, Lie[]>();
  for (const kind of ['number', 'file', 'done', 'allowed'] as const) {
    const own = pool.filter(({ lie }) => lie.kind === kind);
    for (let i = 0; i < LIES_OF_A_KIND && own.length > 0; i++) {
      const [taken] = own.splice(Math.floor(random() * own.length), 1);
      if (taken === undefined) break;
      chosen.set(taken.account, [...(chosen.get(taken.account) ?? []), taken.lie]);
    }
  }
  return chosen;
}

const sum = (counts: ReadonlyMap<LieKind, number>): number =>
  [...counts.values()].reduce((all, n) => all + n, 0);

function main(): void {
  const random = seeded(SEED);
  const accounts = recordedAccounts(folder).map((account) => prepare(account, random));
  if (accounts.length === 0) {
    console.log(`skipped: there are no recorded conversations in ${folder}`);
    return;
  }
  let [total, kept, marks] = [0, 0, 0];
  const changes = new Map<Correction['kind'], number>();
  for (const { id, nodes, summary, sentences } of accounts) {
    const { text, corrections } = checked(nodes, summary);
    total += sentences.length;
    marks += text.match(/ \[(?:not in the messages: |m\d+)/g)?.length ?? 0;
    kept += sentences.filter((sentence) => text.includes(sentence)).length;
    for (const one of corrections) {
      changes.set(one.kind, (changes.get(one.kind) ?? 0) + 1);
      if (!isQuiet)
        console.log(
          `${id} ${one.kind}: ${one.claim}\n    ${one.text === undefined ? '' : `now: ${one.text}\n    `}${one.id ?? 'record'}: ${one.because}`,
        );
    }
  }
  const found = new Map<LieKind, number>();
  const made = new Map<LieKind, number>();
  for (const [{ nodes, summary }, lies] of chosenLies(accounts, random)) {
    const changed = lies.reduce(
      (text, { truth, text: lie }) => text.replace(truth, () => lie),
      cleanAccount(summary),
    );
    const { text } = checked(nodes, changed);
    for (const { kind, text: lie } of lies) {
      made.set(kind, (made.get(kind) ?? 0) + 1);
      if (!text.includes(lie) || text.includes(`${lie} [`))
        found.set(kind, (found.get(kind) ?? 0) + 1);
      else if (process.argv.includes('--missed')) console.log(`missed ${kind}: ${lie}`);
    }
  }
  console.log(
    `${accounts.length} accounts, ${total} sentences, ${((100 * kept) / total).toFixed(2)} % kept as they were`,
  );
  console.log(`marks in the accounts: ${marks}`);
  console.log(`changed: ${[...changes].map(([kind, n]) => `${kind} ${n}`).join(', ')}`);
  const parts = [...made].map(([kind, n]) => `${kind} ${found.get(kind) ?? 0} of ${n}`);
  console.log(
    `lies found: ${parts.join(', ')}; ${((100 * sum(found)) / sum(made)).toFixed(0)} % of all`,
  );
}

main();
