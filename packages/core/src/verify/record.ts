import { sorted } from '../check/list.ts';
import { callsOf, resultsOf, resultText, textOf, type Message } from '../message/message.ts';
import { contentWords } from '../message/words.ts';
import type { Node } from '../thread/thread.ts';
import type { Kept } from '../extract/extract.ts';
import { rolesOf, withoutAnnouncements } from '../extract/story/agent-words.ts';
import { passagesOf, sentences } from '../extract/story/passages.ts';
import { isWritten, saidByUser } from '../extract/story/user-words.ts';
import { NAMES } from '../summary/account-render.ts';
import { chooseFresh, SeenWords } from '../summary/novelty.ts';
import type { Redact } from '../summary/redact.ts';
import type { Note } from '../plan/summary.ts';

const LEAST_WORDS = 4;
const LONGEST_CHARS = 400;
/** Shorter messages are all the user's own words. */
const PASTES_FROM_CHARS = 600;
const LEAST_FRESH = 0.1;
/** What the words of each count. */
const WEIGHT = { user: 1.5, 'final report': 1.2, report: 1.2, step: 1, tool: 0.7 } as const;

interface Sentence {
  readonly text: string;
  readonly weight: number;
  readonly note: Note;
}

/**
 * What the messages say that neither an account nor the messages that stay say: sentences of the user and the agent,
 * and exact lines that the extract chose, each with its worth.
 */
export function lackingNotes(from: {
  /** What the reader sees anyway. */
  readonly account: string;
  readonly nodes: readonly Node[];
  readonly kept: readonly Kept[];
  /** The notes of the extract. */
  readonly notes: readonly Note[];
  /** Exact strings that are likely to be needed, the likeliest first. */
  readonly names: readonly string[];
  readonly chars: number;
  readonly redact: Redact;
}): readonly Note[] {
  const { account, nodes, kept, notes, names, chars, redact } = from;
  const seen = new SeenWords([account, ...kept.map(({ shown }) => textOf(shown))].join('\n'));
  const end = Math.max(1, nodes.at(-1)?.index ?? 1);
  const first = nodes[0]?.index ?? 0;
  const recency = (index: number): number => 0.5 + (0.5 * index) / end;
  const exact = notes
    .filter(
      ({ by, at = -1, text }) => text.length <= LONGEST_CHARS && (by === 'tool' || at < first),
    )
    .map((note): Sentence => ({
      text: note.text,
      note,
      weight: WEIGHT.tool * recency(note.at ?? 0),
    }));
  const said = sentencesOf(nodes).map(({ text, weight, note }): Sentence => {
    const clean = redact(text);
    return { text: clean, note: { ...note, text: clean }, weight: weight * recency(note.at ?? 0) };
  });
  const chosen = chooseFresh([...said, ...exact], seen, chars, LEAST_FRESH);
  const lacking = sorted(
    [...chosen].map(({ note, weight }): Note => ({
      ...note,
      worth: Math.round(weight * 100) / 100,
    })),
    (a, b) => (a.at ?? 0) - (b.at ?? 0),
  );
  const shown = [account, ...kept.map((one) => wholeText(one.shown))].join('\n');
  const named = lackingNames(names, shown, chars * NAMES_SHARE);
  const turn = nodes.at(-1)?.turn ?? 0;
  return named === '' ? lacking : [...lacking, { text: named, by: 'tool', source: NAMES, turn }];
}

const NAMES_SHARE = 0.04;

/** The likeliest names that a text does not contain; a path instead of its last part. */
function lackingNames(names: readonly string[], shown: string, chars: number): string {
  const chosen: string[] = [];
  let left = chars;
  for (const name of names) {
    if (shown.includes(name) || chosen.some((one) => one.includes(name))) continue;
    const part = chosen.findIndex((one) => name.endsWith(`/${one}`));
    const cost = name.length + 2 - (part < 0 ? 0 : (chosen[part] as string).length + 2);
    if (cost > left) continue;
    left -= cost;
    if (part < 0) chosen.push(name);
    else chosen[part] = name;
  }
  return chosen.join(', ');
}

function wholeText(message: Message): string {
  return [
    textOf(message),
    ...callsOf(message).map(({ args }) => args),
    ...resultsOf(message).map(resultText),
  ].join('\n');
}

/** The sentences of the user and the agent that somebody wrote, with what their words count. */
function sentencesOf(nodes: readonly Node[]): readonly Sentence[] {
  const roles = rolesOf(nodes);
  const found: Sentence[] = [];
  for (const { message, turn, index } of nodes) {
    const add = (text: string, by: 'user' | 'assistant', weight: number): void => {
      if (text.length <= LONGEST_CHARS && contentWords(text).length >= LEAST_WORDS)
        found.push({ text, weight, note: { text, by, turn, at: index } });
    };
    for (const words of saidByUser(message))
      for (const text of prose(words))
        if (words.length < PASTES_FROM_CHARS || isWritten(text)) add(text, 'user', WEIGHT.user);
    const role = roles.get(index);
    if (role === undefined) continue;
    for (const text of prose(textOf(message)))
      if (withoutAnnouncements(text) !== '') add(text, 'assistant', WEIGHT[role]);
  }
  return found;
}

/** The sentences of the passages of a text, each with the heading or introduction that it needs. */
function prose(text: string): readonly string[] {
  return passagesOf(text)
    .filter(({ kind }) => kind === 'prose')
    .flatMap((passage) => passage.text.split('\n').flatMap(sentences))
    .map((sentence) => sentence.replace(/^\s*(?:[-*•+]|\d{1,3}[.)])\s+/, '').trim());
}
