import { sorted } from '../check/list.ts';
import type { Embedder, Found, RecallIndex, Store, ThreadKey, ToolDefinition } from '../ports.ts';
import { constraints } from '../extract/facts/statements.ts';
import type { RenderStyle } from '../plan/plan.ts';
import type { Fact } from '../plan/summary.ts';
import { corrections } from '../extract/facts/supersede.ts';
import { headOf } from '../message/text.ts';
import { resultsOf, startsTurn, type Message, type MessageId } from '../message/message.ts';
import type { Node } from '../thread/thread.ts';
import { pageOf, type PageRequest } from './page.ts';
import { passageOf } from './passage.ts';
import { queryWords, searchText, wordsOf } from './words.ts';

/** A compacted message that answers a query. */
export interface Recalled {
  readonly node: Node;
  /** The part of it that holds the most of the query. */
  readonly excerpt: string;
  /** How many different words of the query it holds; a lone digit, which any list holds, is not counted. */
  readonly matches: number;
  /** What was said later against the rules in it. */
  readonly corrections: readonly Fact[];
}

export interface RecallOptions {
  readonly most?: number;
  readonly excerptChars?: number;
  /** If given, recall goes by meaning in addition to words. */
  readonly embedder?: Embedder;
  /** The end of the path that is asked on: what was said on other forks is not found. The whole thread if absent. */
  readonly head?: MessageId;
  /** Messages that the prompt shows as they are: nothing of them was lost. */
  readonly shown?: ReadonlySet<MessageId>;
}

const MOST = 5;
const EXCERPT_CHARS = 600;
/** Reciprocal rank fusion with its usual constant (Cormack, Clarke and Büttcher, 2009). */
const RANK_OFFSET = 60;
/** Among so many messages that share words with a rule its correction is looked for. */
const CORRECTION_DEPTH = 64;
const MOST_CORRECTIONS = 3;
const EMBED_AT_ONCE = 64;
/** The part of one message that an embedder gets: more than most of them read. */
const EMBEDDED_CHARS = 8_000;

/** Finds what was compacted: by words, and by meaning if there is an embedder. */
export async function recall(
  index: RecallIndex,
  key: ThreadKey,
  query: string,
  options: RecallOptions = {},
): Promise<readonly Recalled[]> {
  const { most = MOST, excerptChars = EXCERPT_CHARS, embedder, head, shown } = options;
  const words = queryWords(query);
  const depth = most * 4;
  const lists = [words.length === 0 ? [] : await index.search(key, words, depth, head)];
  const vector = embedder === undefined ? undefined : await vectorOf(embedder, query);
  if (embedder !== undefined && vector !== undefined)
    lists.push(await index.nearest(key, embedder.id, vector, depth, head));
  const found = fused(lists).filter(({ id }) => shown?.has(id) !== true);
  return Promise.all(
    found.slice(0, most).map(async (node) => ({
      ...recalled(node, words, excerptChars),
      corrections: await correctionsOf(node, index, key, head),
    })),
  );
}

/** What the user said later against the rules that a message lays down. */
async function correctionsOf(
  node: Node,
  index: RecallIndex,
  key: ThreadKey,
  head: MessageId | undefined,
): Promise<readonly Fact[]> {
  const rules = startsTurn(node.message) ? constraints([node]) : [];
  if (rules.length === 0) return [];
  const words = queryWords(rules.map(({ text }) => text).join('\n'));
  const later = sorted(
    (await index.search(key, words, CORRECTION_DEPTH, head))
      .map((found) => found.node)
      .filter(({ message, turn }) => turn > node.turn && startsTurn(message)),
    (a, b) => a.index - b.index,
  );
  return corrections(rules, constraints(later)).slice(-MOST_CORRECTIONS);
}

/** The vector of a query. If the embedder fails, words alone must do. */
async function vectorOf(embedder: Embedder, query: string): Promise<readonly number[] | undefined> {
  return embed(embedder, [query]).then(
    ([vector]) => vector,
    () => undefined,
  );
}

/** Vectors of texts, each of the size that the embedder promises. */
async function embed(
  embedder: Embedder,
  texts: readonly string[],
): Promise<readonly (readonly number[])[]> {
  const vectors = await embedder.embed(texts.map((text) => headOf(text, EMBEDDED_CHARS)));
  const right = vectors.every((vector) => vector.length === embedder.dimensions);
  if (vectors.length !== texts.length || !right)
    throw new Error(
      `${embedder.id} answered ${texts.length} texts with ${vectors.length} vectors of ${vectors[0]?.length ?? 0} dimensions, not ${embedder.dimensions}`,
    );
  return vectors;
}

/**
 * Computes a vector for every compacted message that has none, and returns how many it computed. Call it at any time
 * after a compaction. If the embedder refuses single messages, these get a vector that is similar to no query.
 */
export async function embedCompacted(
  index: RecallIndex,
  key: ThreadKey,
  embedder: Embedder,
): Promise<number> {
  for (let embedded = 0; ;) {
    const nodes = await index.unembedded(key, embedder.id, EMBED_AT_ONCE);
    if (nodes.length === 0) return embedded;
    const texts = nodes.map(({ message }) => searchText(message));
    const vectors = await embed(embedder, texts).catch((error: unknown) =>
      oneByOne(embedder, texts, error),
    );
    await index.keepVectors(
      key,
      embedder.id,
      nodes.map(({ id }, i) => ({ id, vector: vectors[i] as readonly number[] })),
    );
    embedded += nodes.length;
  }
}

async function oneByOne(
  embedder: Embedder,
  texts: readonly string[],
  problem: unknown,
): Promise<readonly (readonly number[])[]> {
  const vectors: (readonly number[] | undefined)[] = [];
  for (const text of texts) vectors.push(await vectorOf(embedder, text));
  // An embedder that takes none of them is not there: the next call tries again.
  if (vectors.every((vector) => vector === undefined)) throw problem;
  const none = Array.from({ length: embedder.dimensions }, () => 0);
  return vectors.map((vector) => vector ?? none);
}

/** One order from several. */
function fused(lists: readonly (readonly Found[])[]): readonly Node[] {
  const scores = new Map<MessageId, { node: Node; score: number }>();
  for (const list of lists) {
    for (const [rank, { node }] of list.entries()) {
      const score = (scores.get(node.id)?.score ?? 0) + 1 / (RANK_OFFSET + rank);
      scores.set(node.id, { node, score });
    }
  }
  return sorted([...scores.values()], (a, b) => b.score - a.score).map(({ node }) => node);
}

function recalled(
  node: Node,
  words: readonly string[],
  chars: number,
): Omit<Recalled, 'corrections'> {
  const text = searchText(node.message);
  const held = new Set(wordsOf(text));
  return {
    node,
    excerpt: passageOf(text, words, chars),
    matches: words.filter((word) => !/^\p{N}$/u.test(word) && held.has(word)).length,
  };
}

/** `recall` as a tool. */
export const RECALL_TOOL: ToolDefinition = {
  name: 'recall',
  description:
    'Searches everything that was said and done earlier in this conversation and is no longer shown: ask with the ' +
    'words that it would contain (names, paths, numbers, errors). Then read one result in full by its message.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What to search for.' },
      message: {
        type: 'string',
        description: 'A message from an earlier result, to read it in full.',
      },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'Read the message from this character on.',
      },
      search: { type: 'string', description: 'Show only its lines that contain this text.' },
    },
    additionalProperties: false,
  },
};

export type RecallRequest = PageRequest & { readonly query?: string; readonly message?: string };

/** Answers a call of the tool, on the path that was talked on last if none is given. */
export async function answerRecall(
  store: Store,
  key: ThreadKey,
  request: RecallRequest,
  options: RecallOptions = {},
): Promise<string> {
  if (request.message !== undefined) return readMessage(store, key, request.message, request);
  if ((request.query ?? '').trim() === '') return 'query: say what to search for.';
  const head = options.head ?? (await store.heads(key))[0];
  const onPath = head === undefined ? options : { ...options, head };
  const found = await recall(store, key, request.query ?? '', onPath);
  if (found.length === 0) return 'Nothing that was compacted holds these words.';
  return found
    .map((each, i) => `[${i + 1}] ${describeRecalled(each, { offersReadArtifact: true })}`)
    .join('\n\n');
}

/** Turn, role, how to read on if the model can, what was said later against it, and the part that matches. */
export function describeRecalled(
  { node, excerpt, corrections: later }: Recalled,
  { offersReadArtifact }: Pick<RenderStyle, 'offersReadArtifact'>,
): string {
  const readOn =
    offersReadArtifact === true ? `; all of it: recall({"message": "${handleOf(node)}"})` : '';
  const heading = `turn ${node.turn}, ${speakerOf(node.message)}${readOn}`;
  const corrected = later.map(
    ({ by, turn, text }) => `[Said later by the ${by}, turn ${turn}: ${text}]`,
  );
  return [heading, ...corrected, excerpt].join('\n');
}

function speakerOf(message: Message): string {
  const tool = resultsOf(message)[0]?.tool;
  return tool === undefined ? message.role : `${message.role} ${tool}`;
}

/** A message's name in results: with its index, so that it is found without a search. */
export function handleOf({ id, index }: Node): string {
  return `${index}-${id}`;
}

async function readMessage(
  store: Store,
  key: ThreadKey,
  handle: string,
  page: PageRequest,
): Promise<string> {
  const [, index, id] = /^(?:message:)?(\d{1,9})-([0-9a-f]{32})$/.exec(handle.trim()) ?? [];
  const [node] = id === undefined ? [] : await store.path(key, id as MessageId, Number(index));
  if (node === undefined) return `There is no message ${handle}.`;
  return `[turn ${node.turn}, ${speakerOf(node.message)}]\n${pageOf(searchText(node.message), page)}`;
}
