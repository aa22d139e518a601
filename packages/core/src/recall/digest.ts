import { groupedBy } from '../check/list.ts';
import { callsOf, resultsOf, resultText, type CallPart, type Outcome } from '../message/message.ts';
import { oneLine } from '../message/text.ts';
import { expired, type ToolPolicies } from '../plan/tool-policy.ts';
import type { Plan, SummarizeRecord } from '../plan/plan.ts';
import { redactSecrets } from '../summary/redact.ts';
import type { Node } from '../thread/thread.ts';
import { handleOf } from './recall.ts';

/** Where something can be read back: `recall` takes the name of a message, `read_artifact` that of an artifact. */
export type DigestPath = `message:${string}` | `artifact:${string}`;

export interface ToolOutput {
  readonly path: DigestPath;
  readonly call: string;
  /** Absent if neither the tool nor the host said how the call ended. */
  readonly outcome?: Outcome;
}

/** What a summary replaces: enough to read any of it back by its path. */
export interface Digest {
  readonly path: `summary:${string}`;
  /** Each turn with the first of its messages that the summary replaces. */
  readonly turns: readonly { readonly turn: number; readonly path: DigestPath }[];
  /** The turn of which only the beginning was summarised. */
  readonly splitTurn: number | null;
  readonly artifacts: readonly { readonly path: DigestPath; readonly description: string }[];
  readonly toolOutputs: Readonly<Record<string, readonly ToolOutput[]>>;
  readonly searches: readonly {
    readonly path: DigestPath;
    readonly query: string;
    /** The first lines of what was found. */
    readonly hits: readonly string[];
  }[];
  /** What had expired, with the text that replaced it. */
  readonly hidden: readonly { readonly path: DigestPath; readonly replacement: string }[];
}

const SEARCHES = /search|grep|glob|find/i;
const MOST_HITS = 10;

/** The digest of a summary; `nodes` are all messages that it replaces. */
export function digestOf(
  plan: Plan,
  { summary }: SummarizeRecord,
  nodes: readonly Node[],
  tools: ToolPolicies,
): Digest {
  // A plan forgets what it hid once a summary replaces it: the times of the messages still say so.
  const gone = new Map(expired(nodes, tools, plan.createdAt).map((hide) => [hide.id, hide]));
  const outputs = outputsOf(nodes.filter(({ id }) => !gone.has(id)));
  const pathOf = new Map(nodes.map((node) => [node.id, messagePath(node)]));
  return {
    path: `summary:${plan.thread}/${summary.round}`,
    turns: [...groupedBy(nodes, ({ turn }) => turn)].map(([turn, [first]]) => ({
      turn,
      path: messagePath(first as Node),
    })),
    splitTurn: summary.splitTurn?.turn ?? null,
    artifacts: summary.artifacts.map(({ artifactId, description }) => ({
      path: `artifact:${artifactId}`,
      description,
    })),
    toolOutputs: Object.fromEntries(
      [...groupedBy(outputs, ({ tool }) => tool)].map(([tool, own]) => [
        tool,
        own.map(({ output }) => output),
      ]),
    ),
    searches: outputs
      .filter(({ tool }) => SEARCHES.test(tool))
      .map(({ output: { path, call }, text }) => ({ path, query: call, hits: firstLines(text) })),
    hidden: [...gone.values()].flatMap(({ id, replacement }) => {
      const path = pathOf.get(id);
      return path === undefined ? [] : [{ path, replacement }];
    }),
  };
}

function messagePath(node: Node): DigestPath {
  return `message:${handleOf(node)}`;
}

interface NamedOutput {
  readonly output: ToolOutput;
  readonly tool: string;
  readonly text: string;
}

function outputsOf(nodes: readonly Node[]): readonly NamedOutput[] {
  const calls = new Map<string, CallPart>();
  return nodes.flatMap((node) => {
    for (const call of callsOf(node.message)) calls.set(call.callId, call);
    return resultsOf(node.message).map((result) => {
      const call = calls.get(result.callId);
      const { outcome } = result;
      const asked = { path: messagePath(node), call: redactSecrets(oneLine(call?.args ?? '')) };
      return {
        output: outcome === undefined ? asked : { ...asked, outcome },
        tool: result.tool ?? call?.tool ?? 'tool',
        text: resultText(result),
      };
    });
  });
}

function firstLines(text: string): readonly string[] {
  const lines = text.split('\n', MOST_HITS * 4).filter((line) => line.trim() !== '');
  return lines.slice(0, MOST_HITS).map((line) => redactSecrets(oneLine(line)));
}
