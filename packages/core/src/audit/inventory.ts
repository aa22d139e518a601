import { callsOf, startsTurn, textOf, type Message, type ThreadId } from '../message/message.ts';
import { redactSecrets } from '../summary/redact.ts';
import type { Fact, Speaker } from '../plan/summary.ts';
import { type Node, Thread } from '../thread/thread.ts';
import { proseLines } from '../extract/facts/prose.ts';
import { KIND, type Kind } from '../extract/anchors/anchor.ts';
import { AnchorStatistics } from '../extract/anchors/statistics.ts';
import { constraints, decisions } from '../extract/facts/statements.ts';
import { standingFacts } from '../extract/facts/supersede.ts';
import { lastRunsByKind, runsIn, kindOfCommand } from '../extract/work/commands.ts';
import { todoItems } from '../extract/work/todo.ts';
import { isProseLine, saidByUser } from '../extract/story/user-words.ts';

/** What an agent should still know after a compaction, by class. */
export const ITEM_CLASSES = ['rule', 'decision', 'path', 'command', 'number', 'open item'] as const;
export type ItemClass = (typeof ITEM_CLASSES)[number];

/** Something in a conversation that matters for the work to come. */
export interface AuditItem {
  readonly class: ItemClass;
  /** The words in which it was said, or the exact string. */
  readonly text: string;
  readonly by: Speaker;
  /** The index of the message that said it last. */
  readonly at: number;
  /** For a command: the program and what it is to do, without flags and paths. */
  readonly kind?: string;
}

/** A message with more of a class than this is a table or a log: only the first and the last of them count. */
const MOST_PER_MESSAGE = 16;

/**
 * What matters in a conversation: rules that still hold, decisions, files that were changed or that a person named,
 * the last run of each kind of command, exact numbers and ids in what was said, and items that are still open. What
 * the host sends with every request (system messages) is not at stake. Secrets are taken out.
 */
export function inventory(messages: readonly Message[]): readonly AuditItem[] {
  const nodes = new Thread('audit' as ThreadId).nodesFor(messages);
  const spoken = nodes.filter(({ message }) => message.role !== 'system');
  const statistics = new AnchorStatistics();
  for (const node of nodes) statistics.add(node);
  const items: readonly AuditItem[] = [
    ...rules(spoken),
    ...chosen(spoken),
    ...paths(spoken, statistics),
    ...commands(spoken),
    ...numbers(spoken, statistics),
    ...openItems(spoken),
  ];
  return items
    .map((item) => ({ ...item, text: redactSecrets(item.text) }))
    .filter(({ text }) => /\w/.test(text.replaceAll('[redacted]', '')));
}

function rules(nodes: readonly Node[]): readonly AuditItem[] {
  const at = new Map<Fact, number>();
  for (const node of nodes) for (const fact of constraints([node])) at.set(fact, node.index);
  const { facts } = standingFacts([...at.keys()]);
  return facts.map((fact) => ({
    class: 'rule',
    text: fact.text,
    by: fact.by,
    at: at.get(fact) ?? 0,
  }));
}

function chosen(nodes: readonly Node[]): readonly AuditItem[] {
  const found = new Map<string, AuditItem>();
  for (const node of nodes)
    for (const { text } of decisions([node]))
      found.set(text, { class: 'decision', text, by: 'assistant', at: node.index });
  return [...found.values()];
}

function paths(nodes: readonly Node[], statistics: AnchorStatistics): readonly AuditItem[] {
  const found = new Map<string, AuditItem>();
  for (const { path, edits, editedAt, deleted } of statistics.files.all())
    if (edits > 0 && !deleted)
      found.set(path, { class: 'path', text: path, by: 'assistant', at: editedAt });
  for (const named of namedIn(nodes, statistics, ['user'], [KIND.path])) {
    const text = named.text.replace(/^@/, '');
    const path = statistics.files.find(text)?.path ?? text;
    if (!isPlainPath(path) || found.has(path)) continue;
    found.set(path, { ...named, class: 'path', text: path });
  }
  return [...found.values()];
}

/** The beginning of an address, after its scheme. */
const ADDRESS = /^(?:\d+\/|[\w.-]+\.(?:com|org|net|io|dev)\/)/;

/** A file or a folder: not an address, a fraction or two words with a slash between them. */
function isPlainPath(path: string): boolean {
  return /\.\w{1,8}$|^[./~]|\/.*\//.test(path) && /[A-Za-z]{2}/.test(path) && !ADDRESS.test(path);
}

/** Commits and pushes are events; a command is something that may have to be run again. */
const IS_EVENT = /^(?:git|gh)\b/;

/** Not the arguments of another tool, nor a line that another command is a part of. */
const isCommand = (call: string): boolean => !call.startsWith('{') && !call.includes('$(');

function commands(nodes: readonly Node[]): readonly AuditItem[] {
  return lastRunsByKind(runsIn(nodes), []).flatMap(({ call, at = 0 }): AuditItem[] => {
    const kind = kindOfCommand(call);
    if (kind === undefined || IS_EVENT.test(kind) || !isCommand(call)) return [];
    return [{ class: 'command', text: call, by: 'assistant', at, kind }];
  });
}

/** `ABC-123` and `E0308` name something; `utf-8` and `index-1` do not. */
const CODE = /^(?!(?:SHA|UTF|MD|ISO|RFC|HTTP|IPV|INT|UINT)-?\d)[A-Z]{1,10}-?\d{3,}$/;
/** Lines of a file, times and dates: they point at something that is named beside them. */
const POINTER = /^\d+-\d+$|^\d{4}-\d\d(?:-\d\d)?(?:T\d*)?$|^\d+\+\d+$/;

function numbers(nodes: readonly Node[], statistics: AnchorStatistics): readonly AuditItem[] {
  const kinds = [KIND.number, KIND.hash, KIND.code];
  return namedIn(nodes, statistics, ['user', 'assistant'], kinds)
    .filter(({ text }) => !POINTER.test(text) && (!/[a-z]/i.test(text) || isName(text)))
    .map((item) => ({ ...item, class: 'number' }));
}

const isName = (text: string): boolean => CODE.test(text) || /^[0-9a-f-]{7,40}$/i.test(text);

/** The anchors of some kinds in what was said in words, each where it was said last. */
function namedIn(
  nodes: readonly Node[],
  statistics: AnchorStatistics,
  speakers: readonly Speaker[],
  kinds: readonly Kind[],
): readonly Omit<AuditItem, 'class'>[] {
  const found = new Map<string, Omit<AuditItem, 'class'>>();
  for (const node of nodes) {
    const by = startsTurn(node.message) ? 'user' : 'assistant';
    if (!speakers.includes(by)) continue;
    const own = new Map<string, string>();
    for (const text of wordsOf(node.message))
      statistics.reader.read(text, 0, text.length, (anchors) => {
        for (const { key, kind, full } of anchors)
          if (kinds.includes(kind)) own.set(key, full.replace(/^~(?=\d)/, ''));
      });
    for (const text of new Set(atBothEnds([...own.values()]))) {
      found.delete(text);
      found.set(text, { text, by, at: node.index });
    }
  }
  return [...found.values()];
}

/** A person who writes more than this has pasted some of it. */
const SHORT_CHARS = 400;

/** What was said in words: logs and code that a person pasted are not. */
function wordsOf(message: Message): readonly string[] {
  if (message.role === 'assistant') return [textOf(message)];
  return saidByUser(message).flatMap((text) =>
    text.length <= SHORT_CHARS ? [text] : proseLines(text).filter(isProseLine),
  );
}

function atBothEnds<T>(all: readonly T[]): readonly T[] {
  const half = MOST_PER_MESSAGE / 2;
  return all.length <= MOST_PER_MESSAGE ? all : [...all.slice(0, half), ...all.slice(-half)];
}

function openItems(nodes: readonly Node[]): readonly AuditItem[] {
  return todoItems(nodes, [])
    .filter(({ state }) => state !== 'done')
    .map(({ text }) => {
      const words = text.replace(/ \(#[\w-]+\)$/, '');
      return { class: 'open item', text: words, by: 'assistant', at: lastNaming(nodes, words) };
    });
}

function lastNaming(nodes: readonly Node[], words: string): number {
  const written = JSON.stringify(words).slice(1, -1);
  for (let i = nodes.length - 1; i >= 0; i--) {
    const { message, index } = nodes[i] as Node;
    const args = callsOf(message).map((call) => call.args);
    if (textOf(message).includes(words) || args.some((text) => text.includes(written)))
      return index;
  }
  return 0;
}
