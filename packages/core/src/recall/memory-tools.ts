import type {
  ArtifactStore,
  Embedder,
  Requester,
  Store,
  ThreadKey,
  ToolDefinition,
} from '../ports.ts';
import type { MessageId } from '../message/message.ts';
import type { PageRequest } from './page.ts';
import { READ_ARTIFACT_TOOL, readArtifact } from './read-artifact.ts';
import { answerRecall, RECALL_TOOL, type RecallRequest } from './recall.ts';

/** The source from which an agent's tools read what was compacted. */
export interface Memory {
  readonly store: Store;
  readonly artifacts: ArtifactStore;
  readonly embedder?: Embedder;
  /** Who reads artifacts; anyone of the tenant if absent. */
  readonly requester?: Requester;
  /** The end of the path that recall searches; the newest of the thread if absent. */
  readonly head?: MessageId;
}

/** A tool that every host can offer: its definition, and what answers a call on a thread. Arguments may be anything. */
export interface MemoryTool {
  readonly definition: ToolDefinition;
  readonly answer: (memory: Memory, key: ThreadKey, args: unknown) => Promise<string>;
}

export const readArtifactTool: MemoryTool = {
  definition: READ_ARTIFACT_TOOL,
  async answer({ artifacts, requester }, { tenant }, args) {
    const { id, ...page } = decodeArgs(args);
    if (typeof id !== 'string') return 'id: must be the id of an artifact';
    return readArtifact(artifacts, requester ?? { tenant }, { id, ...page });
  },
};

export const recallTool: MemoryTool = {
  definition: RECALL_TOOL,
  async answer({ store, embedder, head }, key, args) {
    const { query, message, ...page } = decodeArgs(args);
    const request: RecallRequest = {
      ...page,
      ...(typeof query === 'string' || typeof query === 'number' ? { query: String(query) } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    };
    return answerRecall(store, key, request, {
      ...(embedder === undefined ? {} : { embedder }),
      ...(head === undefined ? {} : { head }),
    });
  },
};

/** True if a request offers both tools: only then may its prompt name them. */
export function offersMemory(tools: readonly unknown[]): boolean {
  const names = new Set(tools.map((tool) => (tool as { readonly name?: unknown } | null)?.name));
  return [readArtifactTool, recallTool].every(({ definition }) => names.has(definition.name));
}
/** The tools that read back what was compacted: `read_artifact` and `recall`. */
export const MEMORY_TOOLS: readonly MemoryTool[] = [readArtifactTool, recallTool];

/** A model may write anything: what is not of the schema's type is left out. */
function decodeArgs(
  args: unknown,
): PageRequest & { readonly id?: unknown; readonly query?: unknown; readonly message?: unknown } {
  const given = typeof args === 'object' && args !== null ? (args as Record<string, unknown>) : {};
  const { id, query, message, offset, limit, lines, search } = given;
  const [first, last] = Array.isArray(lines) ? (lines as unknown[]) : [];
  return {
    id,
    query,
    message,
    ...(typeof offset === 'number' ? { offset } : {}),
    ...(typeof limit === 'number' ? { limit } : {}),
    ...(typeof first === 'number' && typeof last === 'number' ? { lines: [first, last] } : {}),
    ...(typeof search === 'string' ? { search } : {}),
  };
}
