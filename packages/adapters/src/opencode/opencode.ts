import {
  extractSummarizer,
  fitSummary,
  resultsOf,
  resultText,
  textOf,
  type Fitted,
  type Message,
  type MessageId,
  type PromptMessage,
  type ThreadHandle,
} from '@bobbin/core';
import { Conversations, type AdapterOptions } from '../conversations.ts';
import { plainMessages } from '../plain-messages.ts';
import { sessionEntries } from '../session-entries.ts';

export type { AdapterOptions } from '../conversations.ts';

/** A message of OpenCode: who said it, and its parts. A tool's part holds the call and what came of it. */
export interface OpenCodeMessage {
  info: { id: string; sessionID: string; role: string };
  parts: OpenCodePart[];
}

export interface OpenCodePart {
  type: string;
}

interface ToolPart extends OpenCodePart {
  readonly callID: string;
  readonly state: { readonly status: string };
}

/** What OpenCode calls of a plugin, as far as it matters here. */
export interface OpenCodeHooks {
  'experimental.chat.messages.transform'(
    input: object,
    output: { messages: OpenCodeMessage[] },
  ): Promise<void>;
  'experimental.session.compacting'(
    input: { sessionID: string },
    output: { context: string[] },
  ): Promise<void>;
}

/** What a summary by OpenCode must hold is told in at most this many tokens. */
const CONTEXT_TOKENS = 2_000;

/**
 * A plugin for OpenCode: every request is fitted, while OpenCode keeps all that was said. Where OpenCode compacts by
 * itself, its prompt is told what must survive. OpenCode's tools come by MCP: see `@bobbin/adapters/mcp`.
 */
export function bobbinPlugin(
  options: AdapterOptions<Message> = {},
): (input?: unknown) => Promise<OpenCodeHooks> {
  const conversations = new Conversations({ codec: plainMessages }, options);
  return () =>
    Promise.resolve({
      async 'experimental.chat.messages.transform'(_input, output) {
        const [first] = output.messages;
        if (first === undefined) return;
        const listed = listOf(output.messages);
        const { sessionID } = first.info;
        const conversation = await conversations.take(listed.messages, undefined, sessionID);
        const fitted = await conversation.prompt();
        const shown = new Shown(listed, conversation.handle).messages(fitted);
        output.messages.splice(0, output.messages.length, ...shown);
      },
      async 'experimental.session.compacting'({ sessionID }, output) {
        const { handle } = await conversations.named(sessionID);
        const text = await mustSurvive(handle, conversations);
        if (text !== undefined) output.context.push(text);
      },
    });
}

/** The extract of all that was said, without a model: what a summary by one has to hold. */
async function mustSurvive(
  handle: ThreadHandle,
  { store }: Conversations<Message>,
): Promise<string | undefined> {
  if (handle.head === undefined) return undefined;
  const nodes = await store.path(handle.key, handle.head);
  const said = nodes.find(({ message }) => message.role === 'user');
  const summary = await extractSummarizer.summarize({
    nodes,
    previous: null,
    task: said === undefined ? null : textOf(said.message),
    round: 1,
    overlap: [],
    maxTokens: CONTEXT_TOKENS,
    counter: handle.counter,
  });
  const text = fitSummary(summary, CONTEXT_TOKENS, handle.counter);
  return text === undefined ? undefined : `The summary must keep all of this:\n\n${text}`;
}

/** The host's messages, what they say, and which of them says what. */
interface Listed {
  readonly host: readonly OpenCodeMessage[];
  readonly messages: readonly Message[];
  /** By message, the host's message that it is of. */
  readonly owners: readonly number[];
}

function listOf(host: readonly OpenCodeMessage[]): Listed {
  const text = JSON.stringify({ info: { id: host[0]?.info.sessionID }, messages: host });
  const entries = sessionEntries('opencode', text);
  return {
    host: [...host],
    messages: entries.flatMap(({ messages }) => messages),
    owners: entries.flatMap(({ messages }, i) => messages.map(() => i)),
  };
}

/** A fitted prompt in the host's messages. */
class Shown {
  readonly #listed: Listed;
  readonly #owners = new Map<MessageId, number>();

  constructor(listed: Listed, handle: ThreadHandle) {
    this.#listed = listed;
    const start = handle.length - listed.owners.length;
    for (const [i, owner] of listed.owners.entries()) {
      const node = handle.at(start + i);
      if (node !== undefined) this.#owners.set(node.id, owner);
    }
  }

  messages({ prompt }: Fitted<Message>): OpenCodeMessage[] {
    const shown: OpenCodeMessage[] = [];
    let run: PromptMessage[] = [];
    for (const [i, each] of prompt.messages.entries()) {
      run.push(each);
      const owner = this.#ownerOf(each);
      const next = prompt.messages[i + 1];
      if (owner !== undefined && next !== undefined && this.#ownerOf(next) === owner) continue;
      const now = owner === undefined ? this.#written(each.message, i) : this.#said(owner, run);
      if (now !== undefined) shown.push(now);
      run = [];
    }
    return shown;
  }

  #ownerOf({ source }: PromptMessage): number | undefined {
    return source.kind === 'kept' || source.kind === 'changed'
      ? this.#owners.get(source.id)
      : undefined;
  }

  /** A message of the host: the very one where all of it is kept, else what the prompt shows of it. */
  #said(owner: number, run: readonly PromptMessage[]): OpenCodeMessage | undefined {
    const host = this.#listed.host[owner];
    const whole = this.#listed.owners.filter((other) => other === owner).length;
    const isWhole = run.length === whole && run.every(({ source }) => source.kind === 'kept');
    return host === undefined || isWhole
      ? host
      : retold(
          host,
          run.map(({ message }) => message),
        );
  }

  /** A message that nobody said, in the form of one that somebody of its role did. */
  #written(message: Message, at: number): OpenCodeMessage | undefined {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const { host } = this.#listed;
    const like = host.find(({ info }) => info.role === role) ?? host[0];
    const text = textOf(message);
    if (like === undefined || text === '') return undefined;
    const info = { ...like.info, id: `msg_bobbin_${at}` };
    return { info, parts: [writtenPart(info, text)] };
  }
}

/** The parts of a host's message that its shown messages still hold, outputs and texts as the plan made them. */
function retold(host: OpenCodeMessage, messages: readonly Message[]): OpenCodeMessage {
  const shown = messages.flatMap(({ parts }) => parts);
  const texts = new Set(shown.flatMap((part) => ('text' in part ? [part.text] : [])));
  const calls = new Set(shown.flatMap((part) => (part.kind === 'call' ? [part.callId] : [])));
  const outputs = new Map(
    messages.flatMap(resultsOf).map((each) => [each.callId, resultText(each)]),
  );
  const parts = host.parts.flatMap((part) => {
    if (isTool(part))
      return calls.has(part.callID) ? [withOutput(part, outputs.get(part.callID))] : [];
    return isText(part) && !texts.delete(part.text) ? [] : [part];
  });
  return { ...host, parts: [...parts, ...[...texts].map((text) => writtenPart(host.info, text))] };
}

function writtenPart({ id, sessionID }: OpenCodeMessage['info'], text: string): OpenCodePart {
  const part = {
    id: `prt_bobbin_${id}`,
    sessionID,
    messageID: id,
    type: 'text',
    text,
    synthetic: true,
  };
  return part;
}

function isTool(part: OpenCodePart): part is ToolPart {
  return part.type === 'tool';
}

function isText(part: OpenCodePart): part is OpenCodePart & { readonly text: string } {
  return part.type === 'text' || part.type === 'reasoning';
}

function withOutput(part: ToolPart, output: string | undefined): OpenCodePart {
  if (output === undefined) return part;
  const field = part.state.status === 'error' ? { error: output } : { output };
  const told: ToolPart = { ...part, state: { ...part.state, ...field } };
  return told;
}
