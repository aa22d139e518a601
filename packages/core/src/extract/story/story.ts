import { reversed, sorted } from '../../check/list.ts';
import { callsOf, hasCalls, type CallPart } from '../../message/message.ts';
import type { Note } from '../../plan/summary.ts';
import type { Redact } from '../../summary/redact.ts';
import type { Node } from '../../thread/thread.ts';
import { callLine } from '../anchors/call-line.ts';
import { VOICE } from '../anchors/scan.ts';
import type { AnchorStatistics } from '../anchors/statistics.ts';
import { knownItem, type Selection } from '../quotes/select.ts';
import {
  isFinding,
  meritOf,
  rolesOf,
  saidByAgent,
  saysCause,
  saysNothing,
  withoutAnnouncements,
  withoutPreamble,
  type Role,
} from './agent-words.ts';
import { answeredText, answersIn, questionsIn, type Answers } from './answers.ts';
import { notesOf, type Flags, type LeadGroup, type Offered } from './offered.ts';
import type { Overruled } from './overruled.ts';
import { introduces, passagesOf, sentences, type Passage } from './passages.ts';
import { passagesOfUser } from './pasted.ts';
import { replacedCode } from './replaced-code.ts';
import { rewrittenMessages } from './rewritten.ts';
import { expandedCommands, refusedInSilence, refusedWith, saidByUser } from './user-words.ts';

/** The scale on which merit is compared with the need of anchors, per character. */
const MERIT = { user: 0.008, pasted: 0.0003, agent: 0.004 } as const;
const LABEL_CHARS = 14;
const BEYOND_SHARE = 0.1;
/** Longer messages are hardly typed. */
const LONGEST_TYPED = 2_000;

/** What the user and the agent said, passage by passage, as candidates of a selection. */
export class Story {
  readonly #redact: Redact;
  readonly #statistics: AnchorStatistics;
  readonly #overruled: Overruled;
  readonly #selection: Selection;
  readonly #offered: Offered[] = [];
  readonly #seen = new Set<string>();

  constructor(
    statistics: AnchorStatistics,
    selection: Selection,
    overruled: Overruled,
    redact: Redact,
  ) {
    this.#redact = redact;
    this.#statistics = statistics;
    this.#overruled = overruled;
    this.#selection = selection;
  }

  /**
   * Takes what was said in some messages; `all` are those by which the role of each message is known. What `elsewhere`
   * has of a message is shown in another section.
   */
  read(nodes: readonly Node[], all: readonly Node[], elsewhere: ReadonlyMap<number, string>): void {
    const roles = rolesOf(all);
    const reported = new Set(
      all.filter(({ index }) => /report/.test(roles.get(index) ?? '')).map(({ turn }) => turn),
    );
    const expanded = expandedCommands(all);
    const answers = answersIn(all, this.#redact);
    const rewritten = rewrittenMessages(all);
    for (const code of replacedCode(all)) this.#seen.add(`assistant ${code}`);
    const calls = new Map(
      all.flatMap(({ message }) => callsOf(message)).map((call) => [call.callId, call]),
    );
    for (const node of nodes) {
      if (expanded.has(node.index) || rewritten.has(node.index)) continue;
      for (const words of saidByUser(node.message)) {
        const call = calls.get(refusedWith(words, node.message) ?? '');
        const refuses = call === undefined ? '' : this.#inOneLine(call);
        this.#user(words, node, { answered: answers.answered.get(node.index), refuses });
      }
      for (const callId of refusedInSilence(node.message)) {
        const call = calls.get(callId);
        if (call !== undefined) this.#refusal(this.#inOneLine(call), node);
      }
      const role = roles.get(node.index);
      if (node.message.role !== 'assistant' || role === undefined) continue;
      if (role !== 'step') this.#report(node, role, answers);
      else this.#remark(node, reported.has(node.turn), elsewhere.get(node.index) ?? '');
    }
  }

  /** What the agent says between two calls. If its turn has a report, only what it finds. */
  #remark(node: Node, isReported: boolean, elsewhere: string): void {
    for (const passage of withOpening(passagesOf(saidByAgent(node.message)))) {
      const { kind } = passage;
      const said = kind === 'prose' ? withoutAnnouncements(passage.text) : passage.text;
      const text = elsewhere === '' ? said : withoutSentences(said, elsewhere);
      if (text === '' || saysNothing(text) || introduces(passage)) continue;
      if (isReported && !isFinding(text)) continue;
      const merit = MERIT.agent * meritOf(passage, 'step', this.#statistics.end - node.index);
      this.#add({ ...passage, text }, node, 'assistant', merit, {});
    }
  }

  #report(node: Node, role: Role, { asked, refused }: Answers): void {
    const passages = withOpening(passagesOf(saidByAgent(node.message)));
    const answer = asked.get(node.index);
    const questions = answer === undefined ? NONE : questionsIn(passages, answer);
    const isRefused = refused.has(node.index);
    const isStep = hasCalls(node.message);
    for (const passage of passages) {
      const said = withoutPreamble(passage.text);
      const text = isStep && passage.kind === 'prose' ? withoutAnnouncements(said) : said;
      if (text === '' || saysNothing(text) || introduces(passage)) continue;
      const isAsked = questions.has(passage);
      const share = isRefused && !isAsked ? REFUSED_SHARE : 1;
      const merit = MERIT.agent * share * meritOf(passage, role, this.#statistics.end - node.index);
      this.#add({ ...passage, text }, node, 'assistant', merit, {
        isFinal: role === 'final report' && !isRefused,
        isReport: !isRefused,
        isAsked,
      });
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

  #refusal(call: string, node: Node): void {
    const passage = { at: 0, lead: '', text: `(refuses ${call})`, kind: 'prose' } as const;
    this.#add(passage, node, 'user', MERIT.user, { isOwn: true });
  }

  #inOneLine({ tool, args }: CallPart): string {
    return callLine(tool, this.#redact(args), REFUSED_CHARS);
  }

  #user(words: string, node: Node, flags: Pick<Offered, 'answered' | 'refuses'>): void {
    const passages = passagesOfUser(words, this.#redact);
    const chars = passages.reduce((sum, { passage }) => sum + passage.text.length, 0);
    for (const [i, { passage, isPasted }] of passages.entries()) {
      const merit = isPasted ? MERIT.pasted : MERIT.user;
      const isOwn = !isPasted && chars <= LONGEST_TYPED;
      const isLast = i === passages.length - 1;
      this.#add(passage, node, 'user', merit, { isOwn, isLast, ...(i === 0 ? flags : {}) });
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
    flags: Flags,
  ): void {
    const { isOwn = false, isLast = false, isFinal = false, isReport = false } = flags;
    const { isAsked = false, answered, refuses = '' } = flags;
    const ids = this.#statistics.idsIn(passage.text);
    const answers = answered === undefined ? 0 : answeredText(answered).length;
    const chars = passage.text.length + 3 + answers + refuses.length;
    const item = knownItem(group, chars, ids, merit);
    const own = { isOwn, isLast, isFinal, isReport, isAsked, answered, refuses };
    const offered = { ...item, note, passage, ...own };
    group.items.push(offered);
    this.#offered.push(offered);
  }

  /**
   * The user's own words within a share of the space: the first message, how the newest begin and end, then older ones
   * that are no questions, then the rest; the newest first.
   */
  takeOwnWords(spaceChars: number): void {
    const own = this.#offered.filter(({ isOwn }) => isOwn);
    const first = own[0]?.note.at;
    const others = reversed(own.filter(({ note }) => note.at !== first));
    const openings = others.filter(({ passage, isLast }) => passage.at === 0 || isLast);
    const statements = openings.filter(({ note }, i) => i < NEWEST_WORDS || !ASKS.test(note.text));
    const opening = own.filter(({ note }) => note.at === first);
    this.#take([...opening, ...statements, ...openings, ...others], spaceChars);
  }

  /** What the user's short answers answer, the newest first, within a share of the space. */
  takeQuestions(spaceChars: number): void {
    this.#take(reversed(this.#offered.filter(({ isAsked }) => isAsked)), spaceChars);
  }

  /** How the agent's reports begin, the newest first, within a share of the space: more of those on changes. */
  takeReports(spaceChars: number, changedIn: ReadonlySet<number>): void {
    const openings = new Map<number, Offered[]>();
    for (const offered of this.#offered) {
      const { note, passage, isReport } = offered;
      if (!isReport || passage.kind !== 'prose') continue;
      const own = openings.get(note.at ?? 0) ?? [];
      const chars = own.reduce((sum, one) => sum + one.chars, offered.chars);
      const most = changedIn.has(note.turn) ? OPENING_CHARS : ANSWER_CHARS;
      if (chars <= (own.length === 0 ? LONGEST_OPENING_CHARS : most))
        openings.set(note.at ?? 0, [...own, offered]);
    }
    const ranked = reversed([...openings.values()]);
    const firsts = ranked.flatMap((own) => own.slice(0, 1));
    // What the first request led to is what the work goes by.
    const [newest, oldest] = [firsts.slice(0, 1), firsts.slice(-1)];
    this.#take([...newest, ...oldest, ...firsts, ...ranked.flat()], spaceChars);
  }

  /** Why something was as it was: one remark of each turn in which files were changed, the newest first. */
  takeCauses(spaceChars: number, changedIn: ReadonlySet<number>): void {
    const causes = new Map<number, Offered>();
    for (const offered of this.#offered) {
      const { note, isReport } = offered;
      if (note.by === 'user' || isReport || !changedIn.has(note.turn)) continue;
      if (saysCause(note.text)) causes.set(note.turn, offered);
    }
    this.#take(reversed([...causes.values()]), spaceChars);
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

  chosen(): readonly Note[] {
    return notesOf(this.#offered, this.#overruled);
  }
}

const REFUSED_CHARS = 90;

/** So many of the newest messages of the user are quoted before older ones. */
const NEWEST_WORDS = 4;
const ASKS = /[?？]\W*$/;
const OPENING_CHARS = 500;
/** The first passage alone may be so long: the next says little without it. */
const LONGEST_OPENING_CHARS = 700;
const ANSWER_CHARS = 300;

/** What the agent proposed in vain says less about the work. */
const REFUSED_SHARE = 0.3;

const OPENING_SENTENCE_CHARS = 40;

/** A short sentence without a name or a number says little alone. */
const NAMES = /\d|`|[a-z][A-Z]|\w[._/]\w/;

/** Passages of which a short first one, such as "I found the issue.", is shown only with the next. */
function withOpening(passages: readonly Passage[]): readonly Passage[] {
  const [first, second] = passages;
  if (first === undefined || second === undefined || first.kind !== 'prose') return passages;
  if (first.text.length > OPENING_SENTENCE_CHARS) return passages;
  if (second.kind !== 'prose') {
    if (second.lead !== '' && NAMES.test(first.text)) return passages;
    return [{ ...second, lead: `${first.text} ${second.lead}`.trim() }, ...passages.slice(2)];
  }
  const lead = second.lead === '' ? '' : `${second.lead}\n`;
  const both = { ...first, text: `${first.text}\n${lead}${second.text}` };
  return [both, ...passages.slice(2)];
}

/** A text without the sentences that another text has. */
const withoutSentences = (text: string, other: string): string =>
  sentences(text)
    .filter((sentence) => !other.includes(sentence.trim()))
    .join(' ');

const NONE: ReadonlySet<Passage> = new Set();
/** Voices whose passages are shown; the others are quoted by their lines. */
export const isSpoken = (voice: number): boolean => voice === VOICE.user || voice === VOICE.text;
