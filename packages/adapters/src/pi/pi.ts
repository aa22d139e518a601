import { textOf, type Fitted, type Message, type Policy, type ThreadId } from '@bobbin/core';
import {
  chars4,
  currentSummary,
  fitSummary,
  pi as piPolicy,
  jsonText,
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
  readonly branchEntries: readonly { readonly id: string }[];
  readonly customInstructions?: string;
  readonly signal: AbortSignal;
}

export interface PiCompaction {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details: { readonly bobbin: { readonly thread: string; readonly version: number } };
}

export interface PiContext {
  readonly sessionManager: { getSessionId(): string };
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

/** Pi shows a summary and what it keeps, and nothing else: all room that there is would be too little for other records. */
const UNBOUNDED_TOKENS = 1_000_000_000;

/**
 * An extension for pi. Pi says what it would keep; the summary of all before it is Bobbin's, verified against what was
 * said, and what was summarised stays searchable. Where nothing can be summarised, pi goes on by itself.
 */
export function bobbinExtension(options: AdapterOptions<Message> = {}): (pi: PiApi) => void {
  const { tenant = 'default' } = options;
  const conversations = new HostConversations(
    { codec: plainMessages },
    // The terminal is pi's: nothing is written to it.
    { onEvent: () => undefined, ...options, window: UNBOUNDED_TOKENS },
  );

  async function compacted(
    event: BeforeCompact,
    session: string,
  ): Promise<[Fitted<Message>, Branch]> {
    const branch = branchOf(event.branchEntries, session);
    const conversation = await conversations.take(branch.messages, { thread: session });
    const kept = branch.messages.length - branch.firstMessageOf(event.preparation.firstKeptEntryId);
    await conversation.session.reconfigure({ policy: keeping(kept, event.preparation.settings) });
    const { customInstructions: instructions, signal } = event;
    const wishes = instructions === undefined ? { signal } : { signal, instructions };
    return [await conversation.session.compact(wishes), branch];
  }

  const toolOf = ({ definition, answer }: MemoryTool): PiTool => ({
    name: definition.name,
    label: definition.name,
    description: definition.description,
    parameters: { ...definition.parameters },
    async execute(_toolCallId, params, _signal, _onUpdate, { sessionManager }) {
      const thread = sessionManager.getSessionId() as ThreadId;
      const text = await answer(conversations.memory, { tenant, thread }, params);
      return { content: [{ type: 'text', text }], details: undefined };
    },
  });

  return (pi) => {
    pi.on('session_before_compact', async (event, { sessionManager }) => {
      const { preparation } = event;
      const [fitted, branch] = await compacted(event, sessionManager.getSessionId());
      const { plan, version } = fitted;
      const summary = toldToPi(
        fitted,
        Math.floor(preparation.settings.reserveTokens * SUMMARY_SHARE),
      );
      if (summary === undefined) return undefined;
      const { tokensBefore } = preparation;
      const firstKeptEntryId = branch.entryOf(plan.start) ?? preparation.firstKeptEntryId;
      const details = { bobbin: { thread: plan.thread, version } };
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details } };
    });
    pi.registerTool(toolOf(readArtifactTool));
    pi.registerTool(toolOf(recallTool));
  };
}

/** Pi's own policy, with the cut where pi wants it. */
function keeping(messages: number, { reserveTokens }: { readonly reserveTokens: number }): Policy {
  return { ...piPolicy({ reserveTokens }), cut: { kind: 'keep-messages', messages } };
}

/** The share of pi's reserve that a summary may have. */
const SUMMARY_SHARE = 0.8;

/**
 * The summary as pi shows it: alone before what is kept. Messages that a prompt of Bobbin would carry whole, such as
 * the task, are told in it. Undefined where the plan has something that pi cannot show.
 */
function toldToPi({ plan, prompt }: Fitted<Message>, maxTokens: number): string | undefined {
  const record = currentSummary(plan);
  if (record === undefined || plan.records.some(({ kind }) => kind !== 'summarize'))
    return undefined;
  const text = fitSummary(record.summary, maxTokens, chars4());
  if (text === undefined) return undefined;
  const carried = new Set<string>(plan.carried.map(({ id }) => id));
  const whole = prompt.messages.flatMap(({ message, source }) =>
    source.kind === 'kept' && carried.has(source.id) ? [textOf(message)] : [],
  );
  const untold = whole.filter((said) => said !== '' && !text.includes(said));
  return [text, ...untold.map((said) => `## Said before\n${said}`)].join('\n\n');
}

/** The messages of a branch, and the entries that they are of. */
interface Branch {
  readonly messages: readonly Message[];
  entryOf(message: number): string | undefined;
  firstMessageOf(entry: string): number;
}

function branchOf(branchEntries: BeforeCompact['branchEntries'], session: string): Branch {
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
