import { lastIndex, reversed, sorted } from '../../check/list.ts';
import { hasCalls, startsTurn } from '../../message/message.ts';
import { oneLine } from '../../message/text.ts';
import type { Note } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { knownItem, rounded, type Group, type Item, type Selection } from '../quotes/select.ts';
import {
  isFinding,
  meritOf,
  rolesOf,
  saidByAgent,
  saysNothing,
  withoutAnnouncements,
  withoutPreamble,
} from './agent-words.ts';
import { overruledStatements } from './overruled.ts';
import { passagesOf, type Passage } from './passages.ts';
import { expandedCommands, isProseLine, saidByUser } from './user-words.ts';

/** The scale on which merit is compared with the need of anchors, per character. */
const MERIT = { user: 0.008, pasted: 0.0003, agent: 0.004 } as const;
const LABEL_CHARS = 14;
const BEYOND_SHARE = 0.1;
/** Shorter messages are all the user's own words; longer ones than the other length are hardly typed. */
const PASTES_FROM_CHARS = 600;
const LONGEST_TYPED = 2_000;

/** A passage that may be shown. */
interface Offered extends Item {
  merit: number;
  readonly note: Omit<Note, 'worth'>;
  readonly passage: Passage;
  /** What the user wrote in a short message: shown first. */
  readonly isOwn: boolean;
  readonly isFinal: boolean;
  readonly isReport: boolean;
  /** What a short answer of the user answers. */
  readonly isAsked: boolean;
}

type Flags = Partial<Pick<Offered, 'isOwn' | 'isFinal' | 'isReport' | 'isAsked'>>;

interface LeadGroup extends Group {
  readonly lead: string;
}

/** What the user and the agent said, passage by passage, as candidates of a selection. */
export class Story {
  readonly #statistics: AnchorStatistics;
  readonly #selection: Selection;
  readonly #offered: Offered[] = [];
  readonly #seen = new Set<string>();

  constructor(statistics: AnchorStatistics, selection: Selection) {
    this.#statistics = statistics;
    this.#selection = selection;
  }

  /** The user's statements that a later one changes, with the message that does so. */
  #overruled: ReadonlyMap<string, number> = new Map();

  /** Takes what was said in some messages; `all` are those by which the role of each message is known. */
  read(nodes: readonly Node[], all: readonly Node[]): void {
    this.#overruled = overruledStatements(all);
    const roles = rolesOf(all);
    const reported = new Set(
      all.filter(({ index }) => /report/.test(roles.get(index) ?? '')).map(({ turn }) => turn),
    );
    const expanded = expandedCommands(all);
    const { asked, refused } = answeredReports(all);
    const end = all.at(-1)?.index ?? 0;
    for (const node of nodes) {
      if (expanded.has(node.index)) continue;
      for (const words of saidByUser(node.message)) this.#user(words, node);
      const role = roles.get(node.index);
      if (node.message.role !== 'assistant' || role === undefined) continue;
      const passages = withOpening(passagesOf(saidByAgent(node.message)));
      const answer = asked.get(node.index);
      const option = answer === undefined ? undefined : questionWithOption(passages, answer);
      if (option !== undefined)
        this.#add(option, node, 'assistant', MERIT.agent, { isAsked: true });
      const questions = answer === undefined || option !== undefined ? NONE : questionsIn(passages);
      for (const passage of passages) {
        const own =
          role === 'step' && passage.kind === 'prose'
            ? withoutAnnouncements(passage.text)
            : withoutPreamble(passage.text);
        if (own === '' || saysNothing(own) || introduces(passage)) continue;
        if (role === 'step' && reported.has(node.turn) && !isFinding(own)) continue;
        const refusal = refused.has(node.index) ? REFUSED_SHARE : 1;
        const merit = MERIT.agent * refusal * meritOf(passage, role, end - node.index);
        this.#add({ ...passage, text: own }, node, 'assistant', merit, {
          isFinal: role === 'final report' && !refused.has(node.index),
          isReport: role !== 'step',
          isAsked: questions.has(passage),
        });
      }
    }
  }

  /** Takes a passage that an earlier summary shows. */
  carry(note: Note): void {
    const { worth: _, ...own } = note;
    const passage = { at: 0, lead: '', text: note.text, kind: 'prose' } as const;
    const age = this.#statistics.end - (note.at ?? 0);
    const merit = note.by === 'user' ? MERIT.user : MERIT.agent * meritOf(passage, 'report', age);
    this.#push(
      { lead: '', headingChars: LABEL_CHARS, ids: [], items: [], open: false },
      passage,
      own,
      merit,
      {
        isOwn: note.by === 'user',
      },
    );
  }

  #user(words: string, node: Node): void {
    const mayPaste = words.length > PASTES_FROM_CHARS;
    for (const passage of passagesOf(words)) {
      const isProse = !mayPaste || (passage.kind === 'prose' && isMostlyProse(passage.text));
      const merit = isProse ? MERIT.user : MERIT.pasted;
      this.#add(passage, node, 'user', merit, { isOwn: isProse && words.length <= LONGEST_TYPED });
    }
  }

  #groups = new Map<string, LeadGroup>();

  #add(
    passage: Passage,
    { index, turn }: Node,
    by: 'user' | 'assistant',
    merit: number,
    flags: Flags,
  ): void {
    const { lead, text } = passage;
    const key = `${by} ${text}`;
    if (text.length < (by === 'user' ? 1 : 2) || this.#seen.has(key)) return;
    this.#seen.add(key);
    const groupKey = `${index} ${lead}`;
    let group = this.#groups.get(groupKey);
    if (group === undefined) {
      group = {
        lead,
        headingChars: LABEL_CHARS + lead.length,
        ids: this.#statistics.idsIn(lead),
        items: [],
        open: false,
      };
      this.#groups.set(groupKey, group);
    }
    this.#push(group, passage, { text, by, turn, at: index }, merit, flags);
  }

  #push(
    group: LeadGroup,
    passage: Passage,
    note: Omit<Note, 'worth'>,
    merit: number,
    { isOwn = false, isFinal = false, isReport = false, isAsked = false }: Flags,
  ): void {
    const ids = this.#statistics.idsIn(passage.text);
    const item = knownItem(group, passage.text.length + 3, ids, merit);
    const offered: Offered = { ...item, note, passage, isOwn, isFinal, isReport, isAsked };
    group.items.push(offered);
    this.#offered.push(offered);
  }

  #overruledAt(text: string): number | undefined {
    for (const [statement, at] of this.#overruled) if (text.includes(statement)) return at;
    return undefined;
  }

  /** The user's own words within a share of the space: the first message, then the newest. */
  takeOwnWords(spaceChars: number): void {
    const own = this.#offered.filter(({ isOwn }) => isOwn);
    const first = own[0]?.note.at;
    const ranked = [
      ...own.filter(({ note }) => note.at === first),
      ...reversed(own.filter(({ note }) => note.at !== first)),
    ];
    this.#take(ranked, spaceChars);
  }

  /** What the user's short answers answer, within a share of the space: chosen options first, then the newest. */
  takeQuestions(spaceChars: number): void {
    const asked = reversed(this.#offered.filter(({ isAsked }) => isAsked));
    this.#take([...asked.filter(isOption), ...asked], spaceChars);
  }

  /** How the agent's reports on changes begin, the newest first, within a share of the space. */
  takeReports(spaceChars: number, changedIn: ReadonlySet<number>): void {
    const openings = new Map<number, Offered[]>();
    for (const offered of this.#offered) {
      const { note, passage, isReport } = offered;
      if (!isReport || passage.kind !== 'prose' || !changedIn.has(note.turn)) continue;
      const own = openings.get(note.at ?? 0) ?? [];
      const chars = own.reduce((sum, one) => sum + one.chars, offered.chars);
      if (chars <= OPENING_CHARS) openings.set(note.at ?? 0, [...own, offered]);
    }
    this.#take(reversed([...openings.values()]).flat(), spaceChars);
  }

  /** The agent's last report within a share of the space, from its beginning. */
  takeFinalReport(spaceChars: number): void {
    this.#take(
      this.#offered.filter(({ isFinal, passage }) => isFinal && passage.kind === 'prose'),
      spaceChars,
    );
  }

  #take(ranked: readonly Offered[], spaceChars: number): void {
    let left = Math.min(spaceChars, this.#selection.spaceChars);
    for (const offered of ranked) {
      const chars = offered.chars + (offered.group.open ? 0 : offered.group.headingChars);
      if (offered.taken || chars > left) continue;
      left -= chars;
      this.#selection.take(offered, 1);
    }
  }

  /** Offers the rest. Beyond a share of the space a passage counts little more than the exact strings in it. */
  offer(spaceChars: number): void {
    let left = spaceChars;
    for (const offered of sorted(this.#offered, (a, b) => b.merit - a.merit)) {
      if (offered.taken) continue;
      left -= offered.chars;
      if (left < 0) offered.merit *= BEYOND_SHARE;
      this.#selection.offer(offered);
    }
  }

  /**
   * The chosen passages as notes in the order of the conversation, each lead before the first of its passages. A mark
   * says where passages of a message were left out.
   */
  chosen(): readonly Note[] {
    const led = new Set<Group>();
    const notes: Note[] = [];
    let last: Offered | undefined;
    let gap = false;
    for (const offered of this.#inOrder()) {
      const { note, group, worth, passage } = offered;
      if (last?.note.at !== note.at || last?.note.by !== note.by) gap = false;
      const before = last?.taken === true ? last.note : undefined;
      last = offered;
      if (!offered.taken) {
        gap = true;
        continue;
      }
      const { lead } = group as LeadGroup;
      const isSaid = led.has(group) || (before?.at === note.at && before?.text === lead);
      const text = passage.kind === 'code' ? `\`\`\`\n${note.text}\n\`\`\`` : note.text;
      const overruledAt = note.by === 'user' ? this.#overruledAt(note.text) : undefined;
      const parts = [
        ...(gap && !text.startsWith(GAP) ? [GAP] : []),
        ...(lead === '' || isSaid ? [] : [lead]),
        text,
      ];
      led.add(group);
      gap = false;
      notes.push({
        ...note,
        ...(overruledAt === undefined ? {} : { overruledAt }),
        text: parts.join('\n'),
        worth: rounded(worth),
      });
    }
    return notes;
  }

  #inOrder(): readonly Offered[] {
    return sorted(
      this.#offered,
      (a, b) => (a.note.at ?? 0) - (b.note.at ?? 0) || a.passage.at - b.passage.at,
    );
  }
}

const GAP = '…';

const OPENING_CHARS = 500;

const isOption = ({ passage }: Offered): boolean => passage.kind === 'option';

/** An answer up to this long says little without its question. */
const SHORT_ANSWER_CHARS = 100;

/** How an answer begins that does not take what the agent proposes. */
const OBJECTS =
  /^\W*(?:but|no|nope|wait|hm+|actually|not|don['’]?t|i (?:don['’]?t|disagree)|that['’]?s (?:not|wrong)|that (?:is|was) (?:not|wrong)|you (?:didn['’]?t|can['’]?t|couldn['’]?t|missed))\b/i;
/** What the agent proposed in vain says less about the work. */
const REFUSED_SHARE = 0.3;

/** The messages of the agent that the user answers in a few words, with the answers, and those that the user objects to. */
function answeredReports(nodes: readonly Node[]): {
  readonly asked: ReadonlyMap<number, string>;
  readonly refused: ReadonlySet<number>;
} {
  const asked = new Map<number, string>();
  const refused = new Set<number>();
  let last: Node | undefined;
  for (const node of nodes) {
    const { message } = node;
    const words = startsTurn(message) ? saidByUser(message).join(' ') : '';
    if (last !== undefined && words !== '') {
      const isShort = words.length <= SHORT_ANSWER_CHARS && !words.includes('?');
      if (OBJECTS.test(words)) refused.add(last.index);
      else if (isShort || NAMES_OPTION.test(words)) asked.set(last.index, words);
    }
    last = message.role === 'assistant' && !hasCalls(message) ? node : undefined;
  }
  return { asked, refused };
}

/** An answer that names options: "B", "2.", "option a, but …", "1+2". */
const NAMES_OPTION =
  /^\W{0,3}(?:option |go with |i(?: think|['’]d say| prefer) |let['’]s (?:try|do|go with) )?((?:[a-e]|\d)(?:\s?(?:[+&,]|and)\s?(?:[a-e]|\d)(?![\w.]))*)(?:\s*$|[.,):;–-](?![a-z]))/i;

/** The question that an answer belongs to, with the options that it names. */
function questionWithOption(passages: readonly Passage[], answer: string): Passage | undefined {
  const labels = NAMES_OPTION.exec(answer)?.[1]?.match(/[a-e](?!nd)|\d/gi) ?? [];
  const lines = reversed(passages.flatMap(({ text }) => text.split('\n')));
  const options = labels.flatMap((label) => {
    const begins = new RegExp(`^\\W{0,6}(?:option )?${label}(?:[.):*]|\\s[-–—:])`, 'i');
    return lines.find((line) => begins.test(line)) ?? [];
  });
  if (options.every((option) => isShortList(passages, option))) return undefined;
  const question = lines.find((line) => line.includes('?') && !options.includes(line));
  const shown = [...(question === undefined ? [] : [question]), ...options];
  const text = shown.map((line) => oneLine(line, OPTION_CHARS)).join('\n  ');
  return { at: passages.length, lead: '', text, kind: 'option' };
}

const OPTION_CHARS = 300;

/** Options that are shown whole with their question need no line of their own. */
function isShortList(passages: readonly Passage[], option: string): boolean {
  const list = passages.find(({ text }) => text.split('\n').includes(option));
  return list !== undefined && list.text.length + list.lead.length <= QUESTION_CHARS / 2;
}

const OPENING_SENTENCE_CHARS = 40;

/** Passages of which a short first one, such as "I found the issue.", is shown only with the next. */
function withOpening(passages: readonly Passage[]): readonly Passage[] {
  const [first, second] = passages;
  if (first === undefined || second === undefined || first.kind !== 'prose') return passages;
  if (first.text.length > OPENING_SENTENCE_CHARS || second.kind !== 'prose') return passages;
  const lead = second.lead === '' ? '' : `${second.lead}\n`;
  const both = { ...first, text: `${first.text}\n${lead}${second.text}` };
  return [both, ...passages.slice(2)];
}

/** True for a last line that introduces something which a call shows. */
const introduces = ({ text, kind }: Passage): boolean =>
  kind === 'prose' && /[:：]\W{0,3}$/.test(text);

const NONE: ReadonlySet<Passage> = new Set();
const QUESTION_CHARS = 500;

/** What an agent asks or offers: how its message begins, and the last passage with a question, otherwise the last one. */
function questionsIn(passages: readonly Passage[]): ReadonlySet<Passage> {
  const end = lastIndex(passages, ({ text }) => text.includes('?'));
  const asked = passages.slice(0, end < 0 ? passages.length : end + 1);
  let left = QUESTION_CHARS;
  const first = asked.filter(({ text }) => (left -= text.length) >= 0);
  return new Set([...first, ...asked.slice(-1)]);
}

function isMostlyProse(text: string): boolean {
  const lines = text.split('\n');
  return lines.filter(isProseLine).length * 2 > lines.length;
}

/** Voices whose passages are shown; the others are quoted by their lines. */
export const isSpoken = (voice: number): boolean => voice === VOICE.user || voice === VOICE.text;
