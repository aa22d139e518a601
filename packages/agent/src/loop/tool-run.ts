import { textMessage, type CallPart, type Message, type ResultPart } from '@bobbin/core';
import { errorText, callsOf, parseJson, resultsOf, type Json } from '@bobbin/core/internal';
import { aiSdk, type AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import {
  alikeRule,
  isAllowed,
  isEdit,
  type Answer,
  type Permissions,
  type PermissionRequest,
} from './permissions.ts';
import { ArgumentError, Arguments } from '../tools/arguments.ts';
import { failure, type Tool, type ToolContext, type ToolOutput } from '../tools/tool.ts';
import type { Toolbox } from '../tools/toolbox.ts';

/** Asks a person; undefined if there is none to ask. */
export type Ask = ((question: Question, signal: AbortSignal) => Promise<Answer>) | undefined;

export interface Question {
  readonly tool: string;
  readonly request: PermissionRequest;
  /** The change that a yes allows. */
  readonly diff?: string;
  /** What the answer `alike` allows. */
  readonly alike?: string;
}

/** The calls of a round that have no result yet. */
export function openCalls(messages: readonly Message[]): readonly CallPart[] {
  const answered = new Set(messages.flatMap(resultsOf).map(({ callId }) => callId));
  return messages.flatMap(callsOf).filter(({ callId }) => !answered.has(callId));
}

/** Runs calls with a person's permission. What was allowed for the session is not asked again. */
export class ToolRunner {
  readonly #tools: Toolbox;
  readonly #ask: Ask;
  readonly #permissions: Permissions;
  /** The very same that was allowed. */
  readonly #granted = new Set<string>();
  /** Commands that are also allowed, as rules. */
  readonly #rules: string[] = [];
  #allowsEdits = false;

  constructor(tools: Toolbox, permissions: Permissions, ask: Ask) {
    this.#tools = tools;
    this.#permissions = permissions;
    this.#ask = ask;
  }

  /** Every failure becomes a result, so that the model can correct it. */
  async run(call: CallPart, context: ToolContext): Promise<ToolOutput> {
    const tool = this.#tools.get(call.tool);
    if (tool === undefined) return failure(`there is no tool ${call.tool}`);
    if (context.signal.aborted) return failure(INTERRUPTED);
    try {
      const args = new Arguments(parseJson(call.args));
      const refused = await this.#refusal(tool, args, context);
      return refused === undefined ? await tool.run(args, context) : failure(refused);
    } catch (error) {
      if (error instanceof ArgumentError) return failure(`${call.tool}: ${error.message}`);
      return failure(`${call.tool} failed: ${errorText(error)}`);
    }
  }

  async #refusal(
    tool: Tool,
    args: Arguments,
    { root, signal }: ToolContext,
  ): Promise<string | undefined> {
    const request = tool.request?.(args, root);
    if (request === undefined || isAllowed(request, this.#permissions)) return undefined;
    if (request.link !== undefined)
      return `${request.link} is a link that leads out of the project, to ${request.subject}; name that path if you mean it`;
    const what = `${request.kind}:${request.subject}`;
    const isGranted = this.#granted.has(what) || (this.#allowsEdits && isEdit(request));
    if (isGranted || isAllowed(request, { all: false, allow: this.#rules })) return undefined;
    if (this.#ask === undefined)
      return `not allowed: nobody can be asked here (--yes or a permission rule allows it): ${request.kind} ${request.subject}`;
    const diff = await tool.preview?.(args);
    const alike = request.kind === 'run' ? alikeRule(request.subject) : undefined;
    const question: Question = {
      tool: tool.name,
      request,
      ...(diff === undefined ? {} : { diff }),
      ...(alike === undefined ? {} : { alike }),
    };
    const answer = await this.#ask(question, signal);
    if (answer === 'always') this.#granted.add(what);
    if (answer === 'edits') this.#allowsEdits = true;
    if (answer === 'alike' && alike !== undefined) this.#rules.push(`run:${alike}`);
    if (signal.aborted) return INTERRUPTED;
    return answer === 'no'
      ? 'The user did not allow this. Ask what to do instead, or go another way.'
      : undefined;
  }
}

const INTERRUPTED = 'Interrupted by the user before it ran.';

/** A result as a message: the wire form for the model, with the envelope for the engine. */
export function resultMessage(
  call: CallPart,
  output: ToolOutput,
  startedAt: number,
  completedAt: number,
): Message {
  const part = {
    type: 'tool-result',
    toolCallId: call.callId,
    toolName: call.tool,
    output: wireOutput(output),
  };
  const wire: AiSdkMessage = { role: 'tool', content: [part] };
  const [message = textMessage('tool', output.text)] = aiSdk.decode([wire]);
  const { outcome, keyFields, determinism } = output;
  const parts = message.parts.map((decoded) => {
    if (decoded.kind !== 'result') return decoded;
    const envelope: ResultPart = {
      ...decoded,
      tool: call.tool,
      outcome,
      startedAt,
      completedAt,
      ...(keyFields === undefined ? {} : { keyFields }),
      ...(determinism === undefined ? {} : { determinism }),
    };
    return envelope;
  });
  return { ...message, parts, meta: { time: completedAt } };
}

function wireOutput({ text, outcome, image }: ToolOutput): Json {
  if (image === undefined)
    return { type: outcome === 'failure' ? 'error-text' : 'text', value: text };
  const { mediaType, base64 } = image;
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      { type: 'file', mediaType, data: { type: 'data', data: base64 } },
    ],
  };
}
