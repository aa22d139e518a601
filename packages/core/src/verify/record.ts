import { sorted } from '../check/list.ts';
import { textOf } from '../message/message.ts';
import { contentWords } from '../message/text.ts';
import type { Node } from '../thread/thread.ts';
import type { Kept } from '../extract/extract.ts';
import { rolesOf, withoutAnnouncements } from '../extract/story/agent-words.ts';
import { passagesOf, sentences } from '../extract/story/passages.ts';
import { isProseLine, saidByUser } from '../extract/story/user-words.ts';
import { chooseFresh, SeenWords } from '../summary/novelty.ts';
import type { Redact } from '../summary/redact.ts';
import type { Note } from '../plan/summary.ts';

const LEAST_WORDS = 4;
const LONGEST_CHARS = 400;
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
  readonly chars: number;
  readonly redact: Redact;
}): readonly Note[] {
  const { account, nodes, kept, notes, chars, redact } = from;
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
  return sorted(
    [...chosen].map(({ note, weight }): Note => ({
      ...note,
      worth: Math.round(weight * 100) / 100,
    })),
    (a, b) => (a.at ?? 0) - (b.at ?? 0),
  );
}

/** The sentences that the user and the agent wrote themselves, with what their words count. */
function sentencesOf(nodes: readonly Node[]): readonly Sentence[] {
  const roles = rolesOf(nodes);
  const found: Sentence[] = [];
  for (const { message, turn, index } of nodes) {
    const add = (text: string, by: 'user' | 'assistant', weight: number): void => {
      if (text.length <= LONGEST_CHARS && contentWords(text).length >= LEAST_WORDS)
        found.push({ text, weight, note: { text, by, turn, at: index } });
    };
    for (const text of saidByUser(message))
      if (!text.endsWith('?') && text.split('\n').every(isProseLine))
        add(text, 'user', WEIGHT.user);
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
