import { startsTurn, textOf } from '../message/message.ts';
import { oneLine } from '../message/text.ts';
import { contentWords, namesIn, sentencesOf } from '../message/words.ts';
import type { Node } from '../thread/thread.ts';
import type { Kept } from '../extract/extract.ts';
import { isRequest } from '../extract/facts/task.ts';
import { proseLines } from '../extract/facts/prose.ts';
import { NAMES } from '../summary/account-render.ts';
import { SeenWords } from '../summary/novelty.ts';
import type { Redact } from '../summary/redact.ts';
import type { Note, Speaker } from '../plan/summary.ts';

const LEAST_WORDS = 4;
const LONGEST = 400;
const LEAST_FRESH = 0.1;
/** What only leads over to something else. */
const LEADS = /:$|^\W*(?:let me|let's|now(?: let me| I)|I'll|I will|I'm going to|next,? I)\b/i;
const WEIGHT: Readonly<Record<Speaker, number>> = { user: 1.5, assistant: 1, tool: 0.8, system: 0.8 };
const NAMES_SHARE = 0.06;

interface Candidate {
  readonly note: Note;
  readonly weight: number;
  value: number;
}

/** What is said beside an account: the sentences and exact lines that it, and the messages that stay, lack. */
export function recordBeside(from: {
  /** What the reader sees anyway. */
  readonly shown: string;
  readonly nodes: readonly Node[];
  readonly kept: readonly Kept[];
  /** The notes of the extract. */
  readonly notes: readonly Note[];
  readonly chars: number;
  readonly redact: Redact;
}): readonly Note[] {
  const { shown, nodes, kept, notes, chars, redact } = from;
  const seen = new SeenWords(shown);
  for (const one of kept) seen.add(textOf(one.shown));
  const candidates = [...said(nodes, redact), ...exact(notes, nodes)];
  const chosen = choose(candidates, seen, chars * (1 - NAMES_SHARE));
  const names = namesLine([shown, ...kept.map((one) => textOf(one.shown)), ...chosen.map(({ text }) => text)], notes, chars * NAMES_SHARE);
  const turn = nodes.at(-1)?.turn ?? 0;
  return names === '' ? chosen : [...chosen, { text: names, by: 'tool', source: NAMES, turn }];
}

/** The sentences of the user and the agent, the newest weighing most. */
function said(nodes: readonly Node[], redact: Redact): Candidate[] {
  const found: Candidate[] = [];
  for (const [i, { message, turn, index }] of nodes.entries()) {
    const by = startsTurn(message) ? 'user' : message.role === 'assistant' ? 'assistant' : undefined;
    const text = by === undefined ? '' : textOf(message);
    if (by === undefined || text === '' || (by === 'user' && !isRequest(text))) continue;
    const recency = 0.5 + (0.5 * i) / nodes.length;
    for (const sentence of proseLines(text, /\S/).flatMap(sentencesOf)) {
      if (sentence.length > LONGEST || contentWords(sentence).length < LEAST_WORDS) continue;
      if (by === 'assistant' && LEADS.test(sentence)) continue;
      const note: Note = { text: redact(oneLine(sentence, LONGEST)), by, turn, at: index };
      found.push({ note, weight: WEIGHT[by] * recency, value: 0 });
    }
  }
  return found;
}

function exact(notes: readonly Note[], nodes: readonly Node[]): Candidate[] {
  const end = nodes.at(-1)?.index ?? 0;
  return notes
    .filter(({ by, source, text }) => (by === 'tool' || source !== undefined) && text.length <= LONGEST)
    .map((note) => ({
      note,
      weight: WEIGHT.tool * (0.5 + (0.5 * (note.at ?? 0)) / Math.max(1, end)),
      value: 0,
    }));
}

/** The candidates that add most for their length, each judged beside those chosen before it. */
function choose(candidates: Candidate[], seen: SeenWords, chars: number): readonly Note[] {
  const value = ({ note: { text }, weight }: Candidate): number =>
    seen.freshShare(text) < LEAST_FRESH ? 0 : (weight * seen.freshWeight(text)) / (text.length + 10) ** 0.7;
  for (const one of candidates) one.value = value(one);
  const queue = candidates.filter((one) => one.value > 0).toSorted((a, b) => b.value - a.value);
  const chosen: Note[] = [];
  let left = chars;
  while (queue.length > 0) {
    const best = queue.shift() as Candidate;
    if (best.note.text.length + 8 > left) continue;
    const now = value(best);
    if (now <= 0) continue;
    if (now < (queue[0]?.value ?? 0)) {
      best.value = now;
      const at = queue.findIndex((one) => one.value <= now);
      queue.splice(at < 0 ? queue.length : at, 0, best);
      continue;
    }
    chosen.push({ ...best.note, worth: now });
    seen.add(best.note.text);
    left -= best.note.text.length + 8;
  }
  return chosen.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

/** The names of the extract's notes that nothing else shows. */
function namesLine(shown: readonly string[], notes: readonly Note[], chars: number): string {
  const known = shown.join('\n');
  const names: string[] = [];
  let left = chars;
  for (const { text } of notes.toSorted((a, b) => (b.worth ?? 0) - (a.worth ?? 0)))
    for (const name of namesIn(text)) {
      if (name.length > left || known.includes(name) || names.includes(name)) continue;
      if (/^[\d.,:]+$/.test(name)) continue;
      names.push(name);
      left -= name.length + 2;
    }
  return names.join(', ');
}
