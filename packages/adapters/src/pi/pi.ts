import {
  textOf,
  type CompactOptions,
  type Fitted,
  type Message,
  type Policy,
  type ThreadId,
} from '@bobbin/core';
import {
  chars4,
  currentSummary,
  fitSummary,
  pi as piPolicy,
  jsonText,
  lastOf,
  PI_DEFAULTS,
  type ThreadKey,
  readArtifactTool,
  recallTool,
  type MemoryTool,
} from '@bobbin/core/internal';
import { HostConversations, type AdapterOptions } from '../conversations.ts';
import { plainMessages } from '../plain-messages.ts';
import { sessionEntries } from '../session-entries.ts';

export type { AdapterOptions } from '../conversations.ts';

/** What pi gives before it compacts, as far as it matters here. */
export interface BeforeCompact {
  readonly preparation: {
    readonly firstKeptEntryId: string;
    readonly tokensBefore: number;
    readonly settings: { readonly reserveTokens: number };
  };
  readonly branchEntries: readonly PiEntry[];
  readonly customInstructions?: string;
  readonly signal: AbortSignal;
}

export interface PiCompaction {
  summary: string;
  /** Absent if nothing is kept: a running loop whose thinking is bound to what came before it ends with the summary. */
  firstKeptEntryId?: string;
  tokensBefore: number;
  details: { readonly bobbin: { readonly thread: string; readonly version: number } };
}

export interface PiContext {
  readonly sessionManager: {
    getSessionId(): string;
    /** The entries from the first to the newest one of the branch. */
    getBranch(): readonly PiEntry[];
  };
}

/** An entry of a session; one that a compaction left names the first entry that it kept. */
export interface PiEntry {
  readonly id: string;
  readonly type?: string;
  readonly firstKeptEntryId?: string;
}

/** A tool as pi registers it. */
export interface PiTool {
  name: string;
  label: string;
  description: string;
  parameters: Record<string, unknown>;
  execute(
    toolCallId: string,
    params: unknown,
    signal: AbortSignal | undefined,
    onUpdate: unknown,
    context: PiContext,
  ): Promise<{ content: { type: 'text'; text: string }[]; details: undefined }>;
}

/** What an extension is given, as far as it matters here. */
export interface PiApi {
  on(
    event: 'session_before_compact',
    handler: (
      event: BeforeCompact,
      context: PiContext,
    ) => Promise<{ compaction: PiCompaction } | undefined>,
  ): void;
  registerTool(tool: PiTool): void;
}

/** Pi shows a summary and what it keeps, and nothing else: no limit may call for other records. */
const UNBOUNDED_TOKENS = 1_000_000_000;

/** Where a branch is cut, and what the summary of all before the cut may take. */
type Cut = Pick<BeforeCompact['preparation'], 'firstKeptEntryId' | 'settings'>;

/**
 * An extension for pi. Pi says what it would keep; the summary of all before it is Bobbin's, verified against what was
 * said, and what was summarised stays searchable. If nothing can be summarised, or no model follows the instructions of
 * `/compact`, pi summarises by itself.
 */
export function bobbinExtension(options: AdapterOptions<Message> = {}): (pi: PiApi) => void {
  const { tenant = 'default', summarizer, ...rest } = options;
  // The terminal is pi's: nothing is written to it.
  const own = {
    onEvent: () => undefined,
    ...rest,
    tenant,
    window: UNBOUNDED_TOKENS,
    offersReadArtifact: true,
  };
  const conversations = new HostConversations(
    { codec: plainMessages },
    summarizer === undefined ? own : { ...own, summarizer },
  );
  /** The same threads, summarised without a model. */
  const extracts = new HostConversations(
    { codec: plainMessages },
    { ...own, store: conversations.store, artifacts: conversations.memory.artifacts },
  );

  /** What an earlier process compacted is searchable again, although its store is gone. */
  async function restored({ sessionManager }: PiContext): Promise<ThreadKey> {
    const thread = sessionManager.getSessionId() as ThreadId;
    const key = { tenant, thread };
    const entries = sessionManager.getBranch();
    const last = lastOf(entries, ({ type }) => type === 'compaction')?.firstKeptEntryId;
    if (last === undefined || (await conversations.store.heads(key)).length > 0) return key;
    const settings = { reserveTokens: PI_DEFAULTS.reserveTokens };
    await compacted(extracts, entries, { firstKeptEntryId: last, settings }, thread);
    return key;
  }

  const toolOf = ({ definition, answer }: MemoryTool): PiTool => ({
    name: definition.name,
    label: definition.name,
    description: definition.description,
    parameters: { ...definition.parameters },
    async execute(_toolCallId, params, _signal, _onUpdate, context) {
      const text = await answer(conversations.memory, await restored(context), params);
      return { content: [{ type: 'text', text }], details: undefined };
    },
  });

  return (pi) => {
    pi.on('session_before_compact', async (event, { sessionManager }) => {
      const { preparation, customInstructions: instructions, signal, branchEntries } = event;
      const asked = instructions === undefined ? { signal } : { signal, instructions };
      const session = sessionManager.getSessionId();
      const [fitted, branch] = await compacted(
        conversations,
        branchEntries,
        preparation,
        session,
        asked,
      );
      // The extract takes no instructions: pi asks its model, and what it summarises is searchable.
      if (instructions !== undefined && summarizer === undefined) return undefined;
      const { plan, version } = fitted;
      const summary = toldToPi(
        fitted,
        Math.floor(preparation.settings.reserveTokens * SUMMARY_SHARE),
      );
      if (summary === undefined) return undefined;
      const { tokensBefore } = preparation;
      const kept = branch.entryOf(plan.start + unreadResults(fitted).length);
      const details = { bobbin: { thread: plan.thread, version } };
      const firstKept = kept === undefined ? {} : { firstKeptEntryId: kept };
      return { compaction: { summary, ...firstKept, tokensBefore, details } };
    });
    pi.registerTool(toolOf(readArtifactTool));
    pi.registerTool(toolOf(recallTool));
  };
}

/** Compacts a branch with the cut that pi asks for. */
async function compacted(
  by: HostConversations<Message>,
  entries: readonly PiEntry[],
  { firstKeptEntryId, settings }: Cut,
  session: string,
  asked: CompactOptions = {},
): Promise<[Fitted<Message>, Branch]> {
  const branch = branchOf(entries, session);
  const conversation = await by.take(branch.messages, { thread: session });
  const kept = branch.messages.length - branch.firstMessageOf(firstKeptEntryId);
  await conversation.session.reconfigure({ policy: keeping(kept, settings) });
  return [await conversation.session.compact(asked), branch];
}

/** Pi's own policy, with the cut that pi wants. */
function keeping(messages: number, { reserveTokens }: { readonly reserveTokens: number }): Policy {
  return { ...piPolicy({ reserveTokens }), cut: { kind: 'keep-messages', messages } };
}

/** The share of pi's reserve that a summary may have. */
const SUMMARY_SHARE = 0.8;

/**
 * The summary as pi shows it: alone before what is kept. It quotes messages that a prompt of Bobbin would carry whole,
 * such as the task, but no system text: pi sends that with every request. Undefined if the plan has something that pi
 * cannot show.
 */
function toldToPi({ plan, prompt }: Fitted<Message>, maxTokens: number): string | undefined {
  const record = currentSummary(plan);
  if (record === undefined || plan.records.some(({ kind }) => kind !== 'summarize'))
    return undefined;
  const text = fitSummary(record.summary, maxTokens, chars4());
  if (text === undefined) return undefined;
  const carried = new Set<string>(plan.carried.map(({ id }) => id));
  const whole = prompt.messages.flatMap(({ message, source }) =>
    source.kind === 'kept' && carried.has(source.id) && message.role !== 'system'
      ? [textOf(message)]
      : [],
  );
  const untold = whole.filter((said) => said !== '' && !text.includes(said));
  return [
    text,
    ...untold.map((said) => `## Said before\n${said}`),
    ...unreadResults({ prompt }).map((result) => `## Newest result\n${result}`),
  ].join('\n\n');
}

/** The newest results, if the loop that they belong to ends with the summary: pi would keep them without their calls. */
function unreadResults({ prompt }: Pick<Fitted<Message>, 'prompt'>): readonly string[] {
  return prompt.messages.flatMap(({ message, source }) =>
    source.kind === 'changed' && source.by === 'stray' ? [textOf(message)] : [],
  );
}

/** The messages of a branch, and the entries that they are of. */
interface Branch {
  readonly messages: readonly Message[];
  entryOf(message: number): string | undefined;
  firstMessageOf(entry: string): number;
}

function branchOf(branchEntries: readonly PiEntry[], session: string): Branch {
  const lines = [{ type: 'session', version: 3, id: session }, ...branchEntries];
  const entries = sessionEntries('pi', lines.map((line) => jsonText(line)).join('\n'));
  const owners = entries.flatMap(({ messages }, i) => messages.map(() => branchEntries[i]?.id));
  return {
    messages: entries.flatMap(({ messages }) => messages),
    entryOf: (message) => owners[message],
    firstMessageOf(entry) {
      const at = branchEntries.findIndex(({ id }) => id === entry);
      const first = owners.findIndex(
        (owner) => branchEntries.findIndex(({ id }) => id === owner) >= at,
      );
      return first < 0 ? owners.length : first;
    },
  };
}
