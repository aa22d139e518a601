import { headOf, tailOf } from '../../message/text.ts';

/** Only the beginning and the end of a longer text are read: what is between was pasted. */
const HEAD_CHARS = 40_000;
const TAIL_CHARS = 8_000;

/** What a list puts before its lines; "2. is fine" is a sentence. */
const BULLET =
  /^\s*(?:[-*•+]|\d{1,3}[.)](?!\s+(?:is|are|looks?|sounds?|seems?|and|or)\b))\s+(?:\[[ xX]\]\s+)?/;
const HEADING = /^\s{0,3}#{1,6}\s+/;
/** Code, markup, quotations and the output of programs: a person does not say them. */
const CODE =
  /^\s*(?:\/\/|\/\*|\*\/|<|>|\||@@|[-+]{3}\s|\$ |>>>|at \S+ ?\(|\w+\(|\d+\s*[:|→\t]|\d+ +\/\/|\S+\.\w{1,5}:\d+|(?:const|let|var|import|return|func|def|class|export)\s)|[{}]\s*$|:=|=>|==|\w\(\);?\s*$|;\s*$(?<=[=(][^.!?]*;\s*)/;
/** A line of a log: fields with their values, a time or a mark in front, a word in capitals before a path. */
const LOG =
  /(?:^|\s)[\w.-]+=\S+(?:\s.*)?\s[\w.-]+=\S|^\s*(?:\[[\w .:/-]{1,40}\]\s+\S+ \S|\d{2,4}[-:/]\d\d\S*\s|[❯➜]\s|(?!NEVER|ONLY|ALWAYS|MUST|USE|NOT|KEEP|READ)[A-Z]{3,12}\s+\S*\w\/\S)/;
const FENCE = /^\s*(?:```|~~~)/;

/**
 * The lines of a message that a person wrote rather than pasted, without list marks, wrapped lines joined. Fenced
 * blocks, runs of code or output, blocks of markup that the host put in and demonstrations are left out. A document
 * with headings is left out except for what comes before the first heading and the sections about rules.
 */
export function proseLines(text: string): readonly string[] {
  const read =
    text.length > HEAD_CHARS + TAIL_CHARS
      ? `${headOf(text, HEAD_CHARS)}\n\n${tailOf(text, TAIL_CHARS)}`
      : text;
  if (DEMONSTRATION.test(read.slice(0, 300)) && read.length > SHORT_DOCUMENT) return [];
  const lines = withoutBlocks(read.split(/\r\n|[\n\r\u2028\u2029]/));
  return paragraphs(ownWords(lines)).flatMap((run) => joined(spokenLines(run)));
}

const DEMONSTRATION =
  /^\W{0,6}here (?:is|are) (?:an?|some|the) (?:\w+ )?(?:demonstrations?|examples?|transcripts?|logs?|output)\b/i;
const SHORT_DOCUMENT = 1_200;
const DOCUMENT_HEADINGS = 3;
const RULES =
  /\b(?:constraints?|rules?|requirements?|restrictions?|limits?|guard ?rails?|conventions?|non-?goals|must|never|do not|don't)\b/i;
const SKILL = /^\s*Base directory for this skill\b/;

/** What comes before the first heading of a document, and its sections about rules. */
function ownWords(lines: readonly string[]): readonly string[] {
  const isHeading = lines.map((line) => HEADING.test(line));
  const count = isHeading.filter(Boolean).length;
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (count < DOCUMENT_HEADINGS || chars < SHORT_DOCUMENT) return lines;
  const isSkill = SKILL.test(lines.find((line) => line.trim() !== '') ?? '');
  let isOwn = !isSkill;
  return lines.filter((line, i) => {
    if (isHeading[i] === true) isOwn = !isSkill && RULES.test(line);
    return isOwn;
  });
}

/** The name of a block of markup in which a person says what they want. */
const ASKING =
  /^(?!.*(?:notification|hook|result|output|reminder))(?:.*)(?:task|instruction|rule|constraint|requirement|quer|question|request|user_|prompt|message)/i;
const TAG = /^\s*<\/?([A-Za-z][\w-]{0,60})[^<>]{0,300}>/;

/** Lines without fenced blocks, and without blocks of markup that the host put in. */
function withoutBlocks(lines: readonly string[]): readonly string[] {
  const own: string[] = [];
  const ends = new Map<string, number>();
  lines.forEach((line, i) => {
    if (!line.includes('</')) return;
    for (const [, tag] of line.matchAll(/<\/([A-Za-z][\w-]{0,60})>/g)) ends.set(tag as string, i);
  });
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const tag = line.includes('<') ? TAG.exec(line)?.[1] : undefined;
    const end = tag === undefined ? undefined : ends.get(tag);
    if (FENCE.test(line)) {
      do i++;
      while (i < lines.length && !FENCE.test(lines[i] as string));
      own.push('');
    } else if (tag !== undefined && ASKING.test(tag))
      own.push(line.replace(/<[^<>]{1,360}>/g, ' '));
    else if (end !== undefined && end >= i) {
      const rest = (lines[end] as string).split('>').at(-1) ?? '';
      own.push(rest.trim());
      i = end;
    } else own.push(line);
  }
  return own;
}

/** A run of lines with more code than this is code. */
const MOST_CODE = 0.34;

function paragraphs(lines: readonly string[]): readonly (readonly string[])[] {
  const runs: string[][] = [[]];
  for (const line of lines) {
    if (line.trim() === '') runs.push([]);
    else runs.at(-1)?.push(line);
  }
  return runs;
}

/** What is said in a run of lines: nothing if much of it is code. */
function spokenLines(run: readonly string[]): readonly string[] {
  const said = run.filter((line) => {
    const bare = line.replace(BULLET, '').replace(HEADING, '');
    return !CODE.test(bare) && !LOG.test(bare);
  });
  return run.length - said.length > run.length * MOST_CODE ? [] : said;
}

/** A line that was wrapped goes on in the next one, which begins small. */
const WRAPPED_CHARS = 50;

function joined(run: readonly string[]): readonly string[] {
  const lines: string[] = [];
  let last = '';
  for (const line of run) {
    const goesOn =
      last.length >= WRAPPED_CHARS && !BULLET.test(line) && /^\s*[\p{Ll}`("']/u.test(line);
    if (goesOn) lines.push(`${lines.pop() ?? ''} ${line.trim()}`);
    else lines.push(line.replace(BULLET, '').replace(HEADING, '').trim());
    last = line;
  }
  return lines;
}
