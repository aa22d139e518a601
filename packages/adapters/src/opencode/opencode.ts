import {
  extractSummarizer,
  fitSummary,
  startsTurn,
  textOf,
  type Message,
  type ThreadHandle,
} from '@bobbin/core';
import type { Taken } from '../taken.ts';
import { Conversations, type AdapterOptions } from '../conversations.ts';
import { plainMessages } from '../plain-messages.ts';
import type { OpenCodeMessage } from './message.ts';
import { listOf, Shown } from './shown.ts';

export type { AdapterOptions } from '../conversations.ts';
export type { OpenCodeMessage, OpenCodePart } from './message.ts';

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

const MOST_SESSIONS = 64;

/**
 * A plugin for OpenCode: every request is fitted, while OpenCode keeps all that was said. Where OpenCode compacts by
 * itself, its prompt is told what must survive. OpenCode's tools come by MCP: see `@bobbin/adapters/mcp`.
 */
export function bobbinPlugin(
  options: AdapterOptions<Message> = {},
): (input?: unknown) => Promise<OpenCodeHooks> {
  const conversations = new Conversations({ codec: plainMessages }, options);
  /** By session, the conversation that it goes on with: behind a compaction of OpenCode it is another. */
  const current = new Map<string, Taken<Message>>();
  return () =>
    Promise.resolve({
      async 'experimental.chat.messages.transform'(_input, output) {
        const [first] = output.messages;
        if (first === undefined) return;
        const listed = listOf(output.messages);
        const { sessionID } = first.info;
        const conversation = await conversations.take(listed.messages, undefined, sessionID);
        current.delete(sessionID);
        current.set(sessionID, conversation);
        if (current.size > MOST_SESSIONS) current.delete(current.keys().next().value ?? '');
        const fitted = await conversation.prompt();
        const shown = new Shown(listed, conversation.handle).messages(fitted);
        output.messages.splice(0, output.messages.length, ...shown);
      },
      async 'experimental.session.compacting'({ sessionID }, output) {
        const { handle } = current.get(sessionID) ?? (await conversations.named(sessionID));
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
  const said = nodes.find(({ message }) => startsTurn(message));
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
