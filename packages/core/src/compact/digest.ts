import {
  callsOf,
  resultsOf,
  resultText,
  type CallPart,
  type MessageId,
  type Outcome,
} from '../message/message.ts';
import { oneLine } from '../message/text.ts';
import type { Node } from '../thread/thread.ts';
import type { ToolPolicies } from '../plan/durability.ts';
import { expired } from '../plan/expiry.ts';
import type { Plan, SummarizeRecord } from '../plan/plan.ts';

/** A place that can be read back: `artifact:id` from the artifact store, `message:id` from the thread. */
export type DigestPath = `artifact:${string}` | `message:${string}`;

export interface ToolOutput {
  readonly path: DigestPath;
  readonly call: string;
  readonly outcome: Outcome;
}

/** What stands behind a summary: enough to read any of it back by path. */
export interface Digest {
  readonly path: string;
  /** Each turn with the first of its messages that the summary covers. */
  readonly coveredTurns: readonly { readonly turn: number; readonly path: DigestPath }[];
  readonly splitTurn: number | null;
  readonly artifacts: readonly { readonly path: DigestPath; readonly description: string }[];
  /** By tool. */
  readonly toolOutputs: Readonly<Record<string, readonly ToolOutput[]>>;
  readonly searches: readonly {
    readonly path: DigestPath;
    readonly query: string;
    readonly hits: readonly string[];
  }[];
  readonly hidden: readonly { readonly path: DigestPath; readonly replacement: string }[];
}

const SEARCHES = /search|grep|glob|find/i;
const MOST_HITS = 10;

/** The digest of a summary. `nodes` are the messages of its span, as the thread has them. */
export function digestOf(
  record: SummarizeRecord,
  plan: Plan,
  nodes: readonly Node[],
  tools: ToolPolicies = {},
): Digest {
  const { summary, span } = record;
  const covered = new Set<MessageId>(span.ids);
  const own = nodes.filter(({ id }) => covered.has(id));
  const outputs = toolOutputs(own);
  return {
    path: `summary:${plan.thread}/${summary.round}`,
    coveredTurns: coveredTurns(own),
    splitTurn: summary.splitTurn?.turn ?? null,
    artifacts: summary.artifacts.map(({ artifactId, description }) => ({
      path: `artifact:${artifactId}`,
      description,
    })),
    toolOutputs: byTool(outputs),
    searches: outputs
      .filter(({ tool }) => SEARCHES.test(tool))
      .map(({ path, call, text }) => ({ path, query: call, hits: hitsIn(text) })),
    // A plan forgets what it hid once a summary covers it; whose time was over by then is known all the same.
    hidden: expired(own, tools, plan.createdAt).map(({ id, replacement }) => ({
      path: `message:${id}`,
      replacement,
    })),
  };
}

function coveredTurns(nodes: readonly Node[]): Digest['coveredTurns'] {
  const first = new Map<number, MessageId>();
  for (const { turn, id } of nodes) if (!first.has(turn)) first.set(turn, id);
  return [...first].map(([turn, id]) => ({ turn, path: `message:${id}` }));
}

interface NamedOutput extends ToolOutput {
  readonly tool: string;
  readonly text: string;
}

function toolOutputs(nodes: readonly Node[]): readonly NamedOutput[] {
  const calls = new Map<string, CallPart>();
  const outputs: NamedOutput[] = [];
  for (const { id, message } of nodes) {
    for (const call of callsOf(message)) calls.set(call.callId, call);
    for (const result of resultsOf(message)) {
      const call = calls.get(result.callId);
      outputs.push({
        tool: result.tool ?? call?.tool ?? 'tool',
        path: `message:${id}`,
        call: oneLine(call?.args ?? ''),
        outcome: result.outcome ?? 'success',
        text: resultText(result),
      });
    }
  }
  return outputs;
}

function byTool(outputs: readonly NamedOutput[]): Digest['toolOutputs'] {
  const groups = new Map<string, ToolOutput[]>();
  for (const { tool, path, call, outcome } of outputs) {
    const group = groups.get(tool) ?? [];
    groups.set(tool, group);
    group.push({ path, call, outcome });
  }
  return Object.fromEntries(groups);
}

/** The first lines of what a search found. */
function hitsIn(text: string): readonly string[] {
  const lines = text.split('\n', MOST_HITS * 4).filter((line) => line.trim() !== '');
  return lines.slice(0, MOST_HITS).map((line) => oneLine(line));
}
