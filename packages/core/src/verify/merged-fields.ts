import { oneLine } from '../message/text.ts';
import { plain } from '../extract/facts/supersede.ts';
import type { Decision, Fact, FileRecord, Item, Summary } from '../plan/summary.ts';
import { SAID, type AccountCheck } from './account-check.ts';
import type { Evidence } from './evidence.ts';
import { KnownTexts } from './known.ts';

const MOST_DECISIONS = 60;
const MOST_ITEMS = 80;
const MOST_FACTS_FROM_MODEL = 20;
const LONGEST_LINE = 300;

/** The known facts, and those of a model that a speaker really said, each with its true speaker. */
export function mergedFacts(
  own: readonly Fact[],
  carried: readonly Fact[],
  check: AccountCheck,
  evidence: Evidence,
): readonly Fact[] {
  const known = new KnownTexts(carried);
  const added: Fact[] = [];
  for (const fact of own) {
    if (added.length === MOST_FACTS_FROM_MODEL) break;
    const said = attributed(fact, check, evidence);
    if (said === undefined || known.has(said.text)) continue;
    known.add(said.text);
    added.push(said);
  }
  return [...carried, ...added];
}

/** A tool's or a model's word is never a constraint. */
function attributed(fact: Fact, check: AccountCheck, evidence: Evidence): Fact | undefined {
  const text = oneLine(fact.text, LONGEST_LINE);
  const { system, user, assistant, tool } = evidence.voices(fact.text);
  const isOrder = fact.by === 'user' || fact.by === 'system';
  if (Math.max(system, user, assistant, tool) < SAID) {
    check.corrections.push({ kind: 'removed', claim: text, because: 'nobody said so' });
    return undefined;
  }
  if (isOrder && Math.max(system, user) >= SAID) return { ...fact, text };
  const by = tool >= SAID && tool >= assistant ? 'tool' : 'assistant';
  if (isOrder)
    check.corrections.push({
      kind: 'attributed',
      claim: text,
      because: `the ${by}, not the ${fact.by}, said so`,
    });
  return { ...fact, text, kind: 'value', by };
}

export function mergedDecisions(
  own: readonly Decision[],
  known: readonly Decision[],
  check: AccountCheck,
): readonly Decision[] {
  const texts = new KnownTexts(known);
  const added = own.flatMap((decision) => {
    const text = texts.has(decision.text) ? undefined : check.sentence(decision.text);
    return text === undefined ? [] : [{ ...decision, text: oneLine(text, LONGEST_LINE) }];
  });
  return [...known, ...added].slice(-MOST_DECISIONS);
}

/** Items as the messages have them; a model may close what only summaries say is open, and add its own. */
export function mergedItems(
  own: readonly Item[],
  { items: known }: Summary,
  previous: Summary | null,
  check: AccountCheck,
): readonly Item[] {
  const before = new Map((previous?.items ?? []).map((item) => [plain(item.text), item.state]));
  const items = new Map(known.map((item) => [plain(item.text), item]));
  const texts = new KnownTexts(known);
  for (const item of own) {
    const key = plain(item.text);
    const there = items.get(key);
    if (there === undefined) {
      const text = texts.has(item.text) ? undefined : check.step(item.text);
      if (text === undefined) continue;
      items.set(key, { ...item, text: oneLine(text, LONGEST_LINE) });
      texts.add(item.text);
    } else if (there.state !== item.state) {
      const isSeen = before.get(key) !== there.state;
      if (item.state === 'done' && !isSeen) items.set(key, { ...there, state: 'done' });
      else if (item.state === 'done' || there.state === 'done')
        check.corrections.push({
          kind: 'corrected',
          claim: `${item.text}: ${item.state}`,
          text: `${item.text}: ${there.state}`,
          because: `it is ${there.state}`,
        });
    }
  }
  return newestItems([...items.values()]);
}

/** Open items are never left out; the newest of the finished ones stay. */
function newestItems(items: readonly Item[]): readonly Item[] {
  let excess = items.length - MOST_ITEMS;
  return items.filter((item) => {
    if (item.state !== 'done' || excess <= 0) return true;
    excess -= 1;
    return false;
  });
}

/** Files as the messages have them, with a model's notes; a model may add a file that the messages name. */
export function mergedFiles(
  own: readonly FileRecord[],
  known: readonly FileRecord[],
  check: AccountCheck,
  evidence: Evidence,
): readonly FileRecord[] {
  const files = new Map(known.map((file) => [file.path, file]));
  for (const claim of own) {
    const there = files.get(claim.path);
    if (there === undefined) {
      if (evidence.mentions(claim.path)) files.set(claim.path, claim);
      else
        check.corrections.push({
          kind: 'removed',
          claim: claim.path,
          because: 'no message names this file',
        });
      continue;
    }
    if (there.deleted !== claim.deleted)
      check.corrections.push({
        kind: 'corrected',
        claim: `${claim.path}: ${claim.deleted ? 'deleted' : 'there'}`,
        text: `${claim.path}: ${there.deleted ? 'deleted' : 'there'}`,
        because: `${claim.path} was ${there.deleted ? '' : 'not '}deleted`,
      });
    const note = claim.note === undefined ? undefined : check.sentence(claim.note);
    if (note !== undefined && there.note === undefined)
      files.set(claim.path, { ...there, note: oneLine(note, LONGEST_LINE) });
  }
  return [...files.values()];
}
