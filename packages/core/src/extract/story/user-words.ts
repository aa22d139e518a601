import {
  resultsOf,
  resultText,
  startsTurn,
  textOf,
  type Message,
  type ResultPart,
} from '../../message/message.ts';
import { headOf } from '../../message/text.ts';
import type { Node } from '../../thread/thread.ts';

/** A command that a host carries out, such as "/clear". */
const COMMAND = /^\/[\w:-]+$/;
/** Documents and examples that a host loads in the user's name. */
const LOADED =
  /^(?:Base directory for this skill:|Caveat: |\W*(?:here|this|below|the following) is an? (?:demonstration|example)\b)/i;
/** A note of the host in brackets, such as "[Request interrupted by user]". */
const BRACKETED = /^\[[^\]\n]{0,120}\]$/;
/** What a host reports in the user's name about work in the background. */
const NOTIFIES =
  /^(?:A background (?:task|agent|command)|Background (?:task|agent|command)|Operation stopped by hook(?=:)|\[?SYSTEM NOTIFICATION|Task notification|Full transcript available at)\b/i;
const OPENING = /^<([A-Za-z][\w-]{0,60})(?:\s[^<>]{0,200})?>/;
/** Blocks in which a host passes on what a person asks. */
const ASKING =
  /^(?:task|query|question|issue|problem|user|request)(?:_(?!info|rules|context|notification|hook|memory)\w+)?$/i;
/** Longer texts are read to here: what follows was pasted. */
const READ_CHARS = 60_000;

/** What a person wrote in a message: without the blocks, commands and documents that a host puts in. */
export function userWords(text: string): string {
  let rest = argumentsGiven(headOf(text, READ_CHARS).trim());
  if (LOADED.test(rest)) return '';
  for (;;) {
    const block = hostBlock(rest);
    if (block === undefined) break;
    rest = (block.inner + rest.slice(block.end)).trim();
  }
  if (COMMAND.test(rest) || BRACKETED.test(rest) || NOTIFIES.test(rest)) return '';
  return withoutTrailingBlocks(rest);
}

/** How a host passes on a command with what a person typed after it. */
const INVOCATION = /^Invoke the \S+ skill\b[^\n]{0,200}\s+ARGUMENTS:\s*/;

/** What a person typed after a command, if a host passes it on in a text of its own; any other text as it is. */
export const argumentsGiven = (text: string): string => text.replace(INVOCATION, '');

const COMMAND_NAME = /<command-name>\s*(\/[\w:.-]{1,80})\s*<\/command-name>/;
const COMMAND_ARGS = /<command-args>([^<]{0,2000})<\/command-args>/;
/** Commands to the host itself: they ask nothing of the agent. */
const HOST_COMMAND =
  /^\/(?:clear|exit|quit|compact|resume|model|login|logout|help|config|cost|status|context|mcp|permissions|agents|memory|hooks|doctor|bug|release-notes|terminal-setup|vim|fast|plugin|rename|usage|theme|export|upgrade)$/;

/** The command that a person gave to a host, as they typed it. Empty if there is none that asks something. */
function commandGiven(text: string): string {
  const [, name = ''] = COMMAND_NAME.exec(headOf(text, 4_000)) ?? [];
  if (name === '' || HOST_COMMAND.test(name)) return '';
  const args = COMMAND_ARGS.exec(headOf(text, 4_000))?.[1]?.trim() ?? '';
  return args === '' ? name : `${name} ${args}`;
}

/** The block of markup that a text begins with: what a person says in it, and where it ends. */
function hostBlock(text: string): { readonly inner: string; readonly end: number } | undefined {
  const heading = /^#{1,6} [^\n]{0,200}\n\s*(?=<)/.exec(text)?.[0] ?? '';
  const opening = OPENING.exec(text.slice(heading.length));
  const tag = opening?.[1];
  if (opening === null || tag === undefined) return undefined;
  const close = `</${tag}>`;
  const at = text.indexOf(close, heading.length);
  if (at < 0) return undefined;
  const from = heading.length + opening[0].length;
  const asks = heading === '' && ASKING.test(tag);
  return { inner: asks ? text.slice(from, at) : '', end: at + close.length };
}

/** Reminders that a host appends to what a person wrote. */
function withoutTrailingBlocks(text: string): string {
  let rest = text;
  for (;;) {
    const close = /<\/([A-Za-z][\w-]{0,60})>\s*$/.exec(rest.slice(-80));
    const open = close === null ? -1 : rest.lastIndexOf(`<${close[1] as string}`);
    if (close === null || open <= 0 || ASKING.test(close[1] as string)) return rest;
    rest = rest.slice(0, open).trimEnd();
  }
}

/** True if a message has words of a person, beside those that the host adds. */
export function hasUserWords(text: string): boolean {
  return userWords(text).length > 3;
}

/** How hosts report that a person refused a call or answered a question: what follows is the person's own text. */
const REJECTED =
  /\buser (?:said|wrote|replied|responded|gave this reason|provided the following feedback|(?:denied|rejected|refused)[^\n:]{0,60}\b(?:feedback|message|reason))[^\n:]{0,40}:\s*\n?/i;
/** A person refused the call: its result says nothing about the work. */
const REFUSED =
  /\buser (?:doesn['’]t want to proceed|(?:denied|rejected|refused|declined)\b)|\brejected by (?:the )?user\b/i;
const ANSWERED = /\buser (?:has )?answered\b[^\n:]{0,60}:\s*/i;
const HEAD_CHARS = 600;
const LONGEST_ANSWER = 4_000;

/** How a result begins if a host wrote it because a person refused the call or answered a question. */
const BY_HOST =
  /^\[error\] The user doesn['’]t want to proceed with this tool use\b|^\W*(?:Error:\s*)?(?:(?:The )?user (?:doesn['’]t want to proceed|denied|rejected|refused|declined|(?:has )?answered)|(?:The )?(?:tool )?(?:use|call) was rejected|Rejected by (?:the )?user)\b/i;

/**
 * What a person said through a tool: the answer to a question, or the reason for which a call was refused. The host's
 * own words have to come first: a page that a tool has read may say that a user said something.
 */
function wordsInResult({ outcome, ...result }: ResultPart): string {
  const text = resultText(result);
  const head = headOf(text, HEAD_CHARS);
  if (!BY_HOST.test(head)) return '';
  const refused = outcome === 'success' ? null : REJECTED.exec(head);
  const match = refused ?? ANSWERED.exec(head);
  if (match === null) return '';
  const said = headOf(text.slice(match.index + match[0].length), LONGEST_ANSWER);
  return said
    .replace(/\s*(?:You can now continue|Note: The user's next message)[^\n]*\s*$/, '')
    .trim();
}

/** True if a person refused a call instead of letting it run. */
export function isRefused(text: string): boolean {
  return REFUSED.test(headOf(text, HEAD_CHARS));
}

/** The call that a person refused with some words; undefined if they said them in another way. */
export function refusedWith(words: string, message: Message): string | undefined {
  return resultsOf(message).find(
    (result) => wordsInResult(result) === words && isRefused(resultText(result)),
  )?.callId;
}

/** The calls that a person refused without a word. */
export const refusedInSilence = (message: Message): readonly string[] =>
  resultsOf(message)
    .filter((result) => {
      const head = headOf(resultText(result), HEAD_CHARS);
      return BY_HOST.test(head) && REFUSED.test(head) && wordsInResult(result) === '';
    })
    .map(({ callId }) => callId);

/** All that a person says in a message, in its own text or through tools. */
export function saidByUser(message: Message): readonly string[] {
  if (startsTurn(message))
    return [userWords(textOf(message)) || commandGiven(textOf(message))].filter(
      (text) => text !== '',
    );
  return resultsOf(message)
    .map(wordsInResult)
    .filter((text) => text !== '');
}

const LEAST_DOCUMENT_CHARS = 600;
/** So much of a text says whether it has headings or lists. */
const DOCUMENT_CHARS = 20_000;

/** True for a long text with headings or lists: a person hardly types one right after a command. */
function isDocument(text: string): boolean {
  const isLong = text.length >= LEAST_DOCUMENT_CHARS;
  return isLong && /^[ \t]{0,40}(?:#{1,6} |[-*] |\d+\. )/m.test(headOf(text, DOCUMENT_CHARS));
}

/** What a host says to the agent for a command without arguments. */
const INVOKES = /^Invoke the \S+ skill\b(?![^]*\bARGUMENTS:)/;

/**
 * The messages in which a host puts the text of a command right after the command: documents, not a person's words. The
 * answer holds the indexes of their nodes.
 */
export function expandedCommands(nodes: readonly Node[]): ReadonlySet<number> {
  const expanded = new Set<number>();
  nodes.forEach(({ message, index }, i) => {
    const before = nodes[i - 1];
    if (before === undefined || !startsTurn(message) || !startsTurn(before.message)) return;
    if (before.index !== index - 1 || commandGiven(textOf(before.message)) === '') return;
    const text = textOf(message);
    if (message.meta?.synthetic === true || isDocument(text) || INVOKES.test(text))
      expanded.add(index);
  });
  return expanded;
}

const LETTERS = /[\p{L}\p{M}'’,.;:!?()"“”\s-]/gu;
const WORDS = /[\p{L}\p{M}]{2,}/gu;
const PROSE_SHARE = 0.86;

/**
 * True for a line that a person wrote: mostly letters, and words between spaces. Scripts without spaces count as words.
 */
export function isProseLine(line: string): boolean {
  const text = line.trim();
  if (text === '') return true;
  if (/^(?:[$❯➜>|@]|[-+]{3}|\d+[→:|\t]|\w+\(|[{}[\]<])/.test(text)) return false;
  const sample = text.slice(0, 400);
  const letters = sample.match(LETTERS)?.length ?? 0;
  return letters >= sample.length * PROSE_SHARE && (sample.match(WORDS)?.length ?? 0) > 0;
}
