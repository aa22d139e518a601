import { type Summarizer, textOf } from '@bobbin/core';
import {
  currentSummary,
  emptyPlan,
  extractSummarizer,
  fitSummary,
  headOf,
  type Node,
  queryWords,
  searchText,
  type SummaryReport,
  type ThreadKey,
  wordsOf,
} from '@bobbin/core/internal';
import type { AgentSession } from './session.ts';

const SUMMARY_TOKENS = 2_000;
const MOST_QUOTED = 3;
const LONGEST_QUOTE = 1_500;

/**
 * What one thread holds for a goal: its summary, written for that goal, and the messages nearest to it, word for word.
 * The engine's summarizer makes it; if a model fails, the extract does.
 */
export async function pulledOut(
  session: AgentSession,
  key: ThreadKey,
  goal: string,
  signal: AbortSignal,
): Promise<string> {
  const { store, handle } = session;
  const [head] = await store.heads(key);
  if (head === undefined) return '';
  const path = await store.path(key, head);
  const plan = (await store.window(key))?.current?.plan ?? emptyPlan(key.thread);
  const previous = currentSummary(plan)?.summary ?? null;
  const nodes = path.slice(previous === null ? 0 : plan.start);
  const first = path.find(({ message }) => message.role === 'user');
  const request = {
    nodes,
    previous,
    task: first === undefined ? null : textOf(first.message),
    round: (previous?.round ?? 0) + 1,
    instructions: `Keep what is needed for this goal, and leave out the rest: ${goal}`,
    overlap: [],
    maxTokens: SUMMARY_TOKENS,
    counter: handle.counter,
    signal,
    report: (report: SummaryReport) => session.charge(report),
  };
  const summary = await trying(session.summarizer(), signal).summarize(request);
  await session.keepCharges();
  const text = fitSummary(summary, SUMMARY_TOKENS, handle.counter) ?? '';
  return [text, ...quotes(path, goal)].join('\n\n');
}

/** As a summarizer, but with the extract if it fails. */
function trying(summarizer: Summarizer, signal: AbortSignal): Summarizer {
  return {
    id: summarizer.id,
    summarize: (request) =>
      summarizer.summarize(request).catch((error: unknown) => {
        if (signal.aborted) throw error;
        return extractSummarizer.summarize(request);
      }),
  };
}

/** The messages that share most of a goal's words, in their order. */
function quotes(path: readonly Node[], goal: string): readonly string[] {
  const wanted = new Set(queryWords(goal));
  const scored = path
    .filter(({ message }) => message.role !== 'tool')
    .map((node) => ({
      node,
      score: new Set(wordsOf(searchText(node.message)).filter((word) => wanted.has(word))).size,
    }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_QUOTED)
    .toSorted((a, b) => a.node.index - b.node.index);
  return scored.map(
    ({ node }) => `[turn ${node.turn}, ${node.message.role}]\n${cut(textOf(node.message))}`,
  );
}

function cut(text: string): string {
  return text.length > LONGEST_QUOTE ? `${headOf(text, LONGEST_QUOTE)}…` : text;
}
