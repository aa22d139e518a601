import { headOf } from '../thread/text.ts';
import { STOP } from './names.ts';
import { VOICE, type Piece, type Segment, type Voice } from './scan.ts';

/** The indentation and the line number that a tool put before a line. */
const MARGIN = /^\s*(?:\d+\s*(?:→|\t|\|)\s*)?/;

/** A stretch as it is quoted: without margins and runs of blanks; arguments as they were sent, runs of tabs as one. */
export function quoted(text: string, voice: Voice): string {
  if (voice === VOICE.args)
    return text
      .replace(/(?:\\t)+/g, String.raw`\t`)
      .replace(/ {2,}/g, ' ')
      .trim();
  if (!text.includes('\n')) return quotedLine(text);
  return text.split('\n').map(quotedLine).filter(Boolean).join('\n');
}

function quotedLine(line: string): string {
  return line
    .replace(MARGIN, '')
    .replace(/\s{2,}/g, ' ')
    .trimEnd();
}

/** The beginning of a line, cut at a space where one is near. */
export function shortened(line: string, most: number): string {
  if (line.length <= most) return line;
  const cut = line.lastIndexOf(' ', most - 1);
  return `${cut > most * 0.6 ? line.slice(0, cut) : headOf(line, Math.max(0, most - 1))}…`;
}

const WORD = /[a-z][a-z0-9]{2,}/g;

/** The words of a text that tell something. */
export function tellingWords(text: string): Set<string> {
  const words = new Set(text.toLowerCase().match(WORD) ?? []);
  for (const word of STOP) words.delete(word);
  return words;
}

/** How many words stand beside a name. */
export function wordsBeside(words: ReadonlySet<string>, name: string): number {
  let beside = words.size;
  for (const word of new Set(name.toLowerCase().match(WORD) ?? [])) if (words.has(word)) beside--;
  return beside;
}

/** A stretch of a text and how it reads. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly body: string;
  readonly words: ReadonlySet<string>;
}

const REACH = 180;
/** A name with fewer words beside it says too little alone. */
export const ENOUGH_WORDS = 3;

/** The stretch to quote for a piece because of a name in it: with a neighbouring line where it says too little alone. */
export function stretchOf({ text, voice }: Segment, piece: Piece, name: string): Stretch {
  const feed = voice === VOICE.args ? String.raw`\n` : '\n';
  let { start, end } = piece;
  let body = quoted(text.slice(start, end), voice);
  let words = tellingWords(body);
  for (let tries = 0; tries < 2 && wordsBeside(words, name) < ENOUGH_WORDS; tries++) {
    const after = text.slice(end, end + REACH);
    const next = after.indexOf(feed, 1);
    const to = next < 0 ? after.length : next;
    if (to > 0 && to < REACH && /[A-Za-z]{3}/.test(after.slice(feed.length, to))) end += to;
    else {
      const before = text.slice(Math.max(0, start - REACH), Math.max(0, start - 1));
      const from = before.lastIndexOf(feed);
      if (from < 0) break;
      start -= before.length + 1 - from - (voice === VOICE.args ? 0 : 1);
    }
    body = quoted(text.slice(start, end), voice);
    words = tellingWords(body);
  }
  return { start, end, body, words };
}

const SHELL = /^\{"(?:command|cmd)"\s{0,3}:\s{0,3}"((?:[^"\\]|\\.){0,2000})"/;

/** What editors call their own commands: without the other arguments they say nothing. */
const EDITOR = /^(?:view|create|str_replace|insert|undo_edit|delete|rename)$/;

/** A call in one line: the command of a shell, else the arguments as they were sent. */
export function callLine(tool: string, args: string, most: number): string {
  const sample = args.slice(0, most * 4);
  const command = SHELL.exec(sample)?.[1];
  const asked = command === undefined || EDITOR.test(command) ? sample : command;
  return shortened(quoted(`${tool} ${asked}`, VOICE.args).replace(/\n/g, ' '), most);
}
