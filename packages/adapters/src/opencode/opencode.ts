import type { Message, ThreadId } from '@bobbin/core';
import type { ThreadKey } from '@bobbin/core/internal';
import { HostConversations, type AdapterOptions } from '../conversations.ts';
import { plainMessages } from '../plain-messages.ts';
import type { OpenCodeMessage } from './message.ts';
import { ModelWindows } from './model-windows.ts';
import { openCodeTools, type OpenCodeTool } from './tools.ts';
import { OpencodeSession } from './session.ts';
import { listOf, Shown } from './shown.ts';

export type { AdapterOptions } from '../conversations.ts';
export type { OpenCodeMessage, OpenCodePart } from './message.ts';
export type { OpenCodeTool } from './tools.ts';

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
  'tool.definition'(input: { toolID: string }, output: object): Promise<void>;
  tool: Record<string, OpenCodeTool>;
}

/** What OpenCode gives a plugin, as far as it matters here. */
export interface OpenCodeInput {
  readonly client?: {
    readonly config: { providers(): Promise<{ readonly data?: unknown }> };
  };
}

const MOST_SESSIONS = 64;

/**
 * A plugin for OpenCode: every request is fitted to the window of the model in use, while OpenCode keeps all that was said. It
 * brings the tools `read_artifact` and `recall`. If OpenCode compacts by itself, its prompt says what must survive.
 */
export function bobbinPlugin(
  options: AdapterOptions<Message> = {},
): (input?: OpenCodeInput) => Promise<OpenCodeHooks> {
  return async (input) => {
    try {
      return hooksFor(options, input);
    } catch (error) {
      // OpenCode goes on without a plugin that fails, and does not say so.
      const why = error instanceof Error ? error.message : String(error);
      console.error(`Bobbin is not loaded: ${why}`);
      throw error;
    }
  };
}

function hooksFor(options: AdapterOptions<Message>, input: OpenCodeInput = {}): OpenCodeHooks {
  const { tenant = 'default' } = options;
  const conversations = new HostConversations(
    { codec: plainMessages },
    // The terminal is OpenCode's: nothing is written to it.
    { onEvent: () => undefined, ...options, offersReadArtifact: true },
  );
  const sessions = new Map<string, OpencodeSession>();
  const threadOf = (sessionID: string): ThreadKey =>
    sessions.get(sessionID)?.key ?? { tenant, thread: sessionID as ThreadId };
  const tools = openCodeTools(conversations.memory, threadOf);
  const windows = new ModelWindows(options, input.client);
  return {
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
      const fitted = await conversation.prompt({ budget: await windows.of(output.messages) });
      const shown = new Shown(listed, conversation.session).messages(fitted);
      output.messages.splice(0, output.messages.length, ...shown);
    },
    async 'experimental.session.compacting'({ sessionID }, output) {
      const known = sessions.get(sessionID);
      const session = known ?? new OpencodeSession(await conversations.named(sessionID));
      const text = await session.mustSurvive(conversations.store);
      if (text !== undefined) output.context.push(text);
    },
    tool: tools,
    async 'tool.definition'({ toolID }, output) {
      const { [toolID]: own } = tools;
      if (own !== undefined) Object.assign(output, { jsonSchema: own.schema });
    },
  };
}
