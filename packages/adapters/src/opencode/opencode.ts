import type { Message } from '@bobbin/core';
import { HostConversations, type AdapterOptions } from '../conversations.ts';
import { plainMessages } from '../plain-messages.ts';
import type { OpenCodeMessage } from './message.ts';
import { OpencodeSession } from './session.ts';
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

const MOST_SESSIONS = 64;

/**
 * A plugin for OpenCode: every request is fitted, while OpenCode keeps all that was said. Where OpenCode compacts by
 * itself, its prompt is told what must survive. OpenCode's tools come by MCP: see `@bobbin/adapters/mcp`.
 */
export function bobbinPlugin(
  options: AdapterOptions<Message> = {},
): (input?: unknown) => Promise<OpenCodeHooks> {
  // The terminal is OpenCode's: nothing is written to it.
  const quiet = { onEvent: () => undefined, ...options };
  const conversations = new HostConversations({ codec: plainMessages }, quiet);
  const sessions = new Map<string, OpencodeSession>();
  return () =>
    Promise.resolve({
      async 'experimental.chat.messages.transform'(_input, output) {
        const [first] = output.messages;
        if (first === undefined) return;
        const listed = listOf(output.messages);
        const { sessionID } = first.info;
        const conversation = await conversations.take(listed.messages, { thread: sessionID });
        const session = sessions.get(sessionID) ?? new OpencodeSession(conversation);
        session.show(conversation, listed);
        sessions.delete(sessionID);
        sessions.set(sessionID, session);
        if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value ?? '');
        const fitted = await conversation.prompt();
        const shown = new Shown(listed, conversation.session).messages(fitted);
        output.messages.splice(0, output.messages.length, ...shown);
      },
      async 'experimental.session.compacting'({ sessionID }, output) {
        const known = sessions.get(sessionID);
        const session = known ?? new OpencodeSession(await conversations.named(sessionID));
        const text = await session.mustSurvive(conversations.store);
        if (text !== undefined) output.context.push(text);
      },
    });
}
