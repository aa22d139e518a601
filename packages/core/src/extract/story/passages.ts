import { linesOf } from '../../message/text.ts';

/** A stretch of a text that is shown whole or not at all: a paragraph, a list entry with what belongs to it, a code block. */
export interface Passage {
  /** Where it is among the passages of its text. */
  readonly at: number;
  /** The heading or the line ending in a colon that it belongs to; empty if there is none. */
  readonly lead: string;
  readonly text: string;
  readonly kind: 'prose' | 'code';
}

const FENCE = /^\s{0,12}(?:```|~~~)/;
const HEADING = /^\s{0,3}#{1,6}\s+\S|^\s{0,3}\*\*[^*]{1,120}\*\*:?\s*$/;
const TITLE = /^\s{0,3}#{1,6}\s/;
const BULLET = /^\s{0,40}(?:[-*•+]|\d{1,3}[.)])\s+/;
const TABLE_RULE = /^[\s|:-]+$/;
/** A list entry keeps the lines nested under it up to this length. */
const NESTED_CHARS = 360;
const PARAGRAPH_CHARS = 420;
const CODE_CHARS = 700;
const LEAD_CHARS = 160;
/** A shorter lead, such as "Pros:", says little without the heading above it. */
const VAGUE_CHARS = 14;
const MOST_PASSAGES = 400;

/** The passages of a text, in order. Introductions are not passages: they are shown with what they introduce. */
export function passagesOf(text: string): readonly Passage[] {
  const reader = new PassageReader(linesOf(text));
  reader.read();
  return wholeLists(reader.passages);
}

/** A list or a table up to this length is one passage: its entries belong together. */
const LIST_CHARS = 1_200;

function wholeLists(passages: readonly Passage[]): readonly Passage[] {
  const out: Passage[] = [];
  for (const run of runsOfEntries(passages)) {
    const chars = run.reduce((sum, { text }) => sum + text.length + 1, 0);
    const [first] = run as [Passage];
    if (run.length > 1 && chars <= LIST_CHARS)
      out.push({ ...first, text: run.map(({ text }) => text).join('\n') });
    else out.push(...run);
  }
  return out;
}

const isEntry = ({ kind, text }: Passage): boolean =>
  kind === 'prose' && (BULLET.test(text) || text.startsWith('|'));

/** Entries of one list together, every other passage alone. */
function runsOfEntries(passages: readonly Passage[]): readonly (readonly Passage[])[] {
  const runs: Passage[][] = [];
  for (const passage of passages) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    if (
      last !== undefined &&
      before !== undefined &&
      isEntry(passage) &&
      isEntry(before) &&
      before.lead === passage.lead
    )
      last.push(passage);
    else runs.push([passage]);
  }
  return runs;
}

class PassageReader {
  readonly passages: Passage[] = [];
  readonly #lines: readonly string[];
  #at = 0;
  #lead = '';
  /** A lead that no passage has yet. */
  #introduced = '';
  #title = '';

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): void {
    while (this.#at < this.#lines.length && this.passages.length < MOST_PASSAGES) this.#next();
    // The last line of a text introduces nothing.
    const last = this.#lead;
    this.#lead = '';
    if (last !== '' && last === this.#introduced) this.#add(last, 'prose');
  }

  #next(): void {
    const line = this.#line(this.#at);
    if (line.trim() === '' || TABLE_RULE.test(line)) this.#at++;
    else if (FENCE.test(line)) this.#code();
    else if (HEADING.test(line)) this.#introduce(line);
    else if (endsInColon(line) && !BULLET.test(line)) this.#introduce(line);
    else if (BULLET.test(line)) this.#entry(line);
    else if (line.trimStart().startsWith('|')) this.#row(line);
    else this.#paragraph();
  }

  #line(at: number): string {
    return (this.#lines[at] ?? '').trimEnd();
  }

  /** The last sentence of the line introduces what follows; what is said before it is a passage. */
  #introduce(line: string): void {
    this.#at++;
    const isTitle = TITLE.test(line);
    const all = sentences(plainLine(line));
    const said = all.slice(0, -1).join(' ');
    if (said !== '') this.#add(said, 'prose');
    const last = all.at(-1) ?? '';
    const isVague = !isTitle && this.#title !== '' && last.length <= VAGUE_CHARS;
    const lead = isVague ? `${this.#title} — ${last}` : last;
    this.#lead = lead.length <= LEAD_CHARS ? lead : '';
    this.#introduced = this.#lead;
    if (isTitle) this.#title = this.#lead;
  }

  #code(): void {
    const code: string[] = [];
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line(this.#at);
      if (FENCE.test(line)) break;
      if (line.trim() !== '') code.push(line);
    }
    this.#at++;
    for (const block of lineRuns(code, CODE_CHARS)) this.#add(block.join('\n'), 'code');
  }

  /** A list entry. If what is nested under it is long, each nested line is a passage with the entry as its lead. */
  #entry(line: string): void {
    const depth = indentOf(line);
    const nested: string[] = [];
    let code = false;
    for (this.#at++; this.#at < this.#lines.length; this.#at++) {
      const below = this.#line(this.#at);
      if (FENCE.test(below) && indentOf(below) > depth) code = !code;
      else if (!code && below.trim() === '') {
        if (indentOf(this.#line(this.#at + 1)) <= depth) break;
      } else if (!code && indentOf(below) <= depth) break;
      else nested.push(below.trim());
    }
    const own = line.trim();
    const whole = [own, ...nested.map((one) => `  ${one}`)].join('\n');
    if (nested.length === 0 || whole.length <= NESTED_CHARS) {
      this.#add(whole, 'prose');
      return;
    }
    const outer = this.#lead;
    if (!endsInColon(own)) this.#add(own, 'prose');
    this.#lead = own.length <= LEAD_CHARS ? own : outer;
    for (const block of lineRuns(nested, NESTED_CHARS)) this.#add(block.join('\n'), 'prose');
    this.#lead = outer;
  }

  #row(line: string): void {
    this.#at++;
    if (TABLE_RULE.test(this.#line(this.#at))) this.#lead = line.trim().slice(0, LEAD_CHARS);
    else this.#add(line.trim(), 'prose');
  }

  #paragraph(): void {
    const last = this.passages.at(-1);
    const isAfterList = last !== undefined && isEntry(last) && last.lead === this.#lead;
    const isAfterCode = last?.kind === 'code' && last.lead === this.#lead;
    // What introduces a list, a table or code says nothing about the text after it.
    if (this.#lead.startsWith('|') || isAfterList || isAfterCode) this.#lead = '';
    const lines: string[] = [];
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#line(this.#at);
      if (line.trim() === '' || FENCE.test(line) || HEADING.test(line)) break;
      if (BULLET.test(line) || line.trimStart().startsWith('|')) break;
      if (lines.length > 0 && endsInColon(line)) break;
      lines.push(line.trim());
      if (endsInColon(line)) break;
    }
    for (const block of lineRuns(lines, PARAGRAPH_CHARS))
      for (const part of sentenceRuns(block.join('\n'), PARAGRAPH_CHARS)) this.#add(part, 'prose');
  }

  #add(text: string, kind: Passage['kind']): void {
    this.passages.push({ at: this.passages.length, lead: this.#lead, text, kind });
    this.#introduced = '';
    if (kind === 'prose' && !BULLET.test(text) && !text.startsWith('|')) this.#lead = '';
  }
}

/** True for the last line of a text that introduces something which a call shows. */
export const introduces = ({ text, kind }: Passage): boolean =>
  kind === 'prose' && endsInColon(text);

function endsInColon(line: string): boolean {
  return /[:：]\W{0,3}$/.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function plainLine(line: string): string {
  return line
    .replace(/^\s{0,3}#{1,6}\s+/, '')
    .replace(/\*\*/g, '')
    .trim();
}

/** Runs of lines of at most so many characters; a line is never divided. */
function* lineRuns(lines: readonly string[], mostChars: number): Iterable<readonly string[]> {
  let block: string[] = [];
  let chars = 0;
  for (const line of lines) {
    if (chars > 0 && chars + line.length > mostChars) {
      yield block;
      block = [];
      chars = 0;
    }
    block.push(line);
    chars += line.length + 1;
  }
  if (block.length > 0) yield block;
}

/** Where a sentence ends: not after "e.g." nor after the number of a list. */
const SENTENCE_END =
  /(?<=[.!?]["')*`\]]{0,3})(?<!\b(?:e\.g|i\.e|etc|vs|cf|No)\.)(?<!(?:^|\s)\d{1,3}\.)\s+(?=\S)|(?<=[。！？])/;

export function sentences(text: string): readonly string[] {
  return text.split(SENTENCE_END).filter((sentence) => sentence.trim() !== '');
}

/** A long paragraph as runs of whole sentences. */
function* sentenceRuns(text: string, mostChars: number): Iterable<string> {
  if (text.length <= mostChars) {
    yield text;
    return;
  }
  let run = '';
  for (const sentence of sentences(text)) {
    if (run !== '' && run.length + sentence.length > mostChars) {
      yield run;
      run = '';
    }
    run = run === '' ? sentence : `${run} ${sentence}`;
  }
  if (run !== '') yield run;
}
