import {
  textMessage,
  textOf,
  type CallPart,
  type Fitted,
  type Message,
  type MessageId,
  type Usage,
} from '@bobbin/core';
import { callsOf, parseJson, resultsOf, usageTokens, type Json } from '@bobbin/core/internal';
import { aiSdk, type AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import type { Agent } from './agent.ts';
import type { Compacting } from '../compaction/compacting.ts';
import { tokensText } from '../figures.ts';
import { sentFor, type Sent } from '../compaction/live-prompt.ts';
import { askModel, type Request } from './loop.ts';
import type { Readiness } from './effect.ts';
import type { MachineEvent } from './machine.ts';
import { withLoadedWindow } from '../model/model-server.ts';
import type { Model } from '../model/models.ts';
import { openCalls, resultMessage, ToolRunner, type Ask } from './tool-run.ts';

/**
 * The steps of a turn in one session: the prompt is prepared, the model asked, what it calls is done. Each of the three
 * ends as an event of the machine, which decides what follows.
 */
export class Step {
  readonly #agent: Agent;
  readonly #compacting: Compacting;
  readonly #runner: ToolRunner;
  #fitted: Fitted<AiSdkMessage> | undefined;
  #sent: Sent | undefined;
  #calls: readonly CallPart[] = [];
  /** The model whose server was asked after an answer. */
  #asked: Model | undefined;

  constructor(agent: Agent, compacting: Compacting, ask: Ask) {
    this.#agent = agent;
    this.#compacting = compacting;
    this.#runner = new ToolRunner(agent.session.tools, agent.options.permissions, ask);
  }

  /** The request that the model got last. */
  get sent(): Sent | undefined {
    return this.#sent;
  }

  async prepare(compaction: Readiness, signal: AbortSignal): Promise<MachineEvent> {
    const { session } = this.#agent;
    if (compaction === 'never' && session.isFull)
      return { kind: 'prepared', result: 'none', fits: true, full: true };
    this.#fitted = await session.prompt(compaction === 'early', signal);
    const { fits, continueWith } = this.#fitted;
    const result = await this.#compacting.report(this.#fitted, signal);
    const compacted = result === 'done' || result === 'by-extract';
    if (continueWith !== undefined && compacted && this.#isWithinTask()) {
      await this.#agent.note({ typed: continueWith });
      this.#fitted = await session.prompt(compaction === 'early', signal);
    }
    return { kind: 'prepared', result, fits, full: false };
  }

  /** True if the model should go on by itself: there is no new message to go on with, and the turn is not over. */
  #isWithinTask(): boolean {
    const { machine, session } = this.#agent;
    return !machine.phase.startsWith('settling') && session.handle.messages.at(-1)?.role !== 'user';
  }

  async ask(signal: AbortSignal): Promise<MachineEvent> {
    const fitted = this.#fitted;
    if (fitted === undefined) throw new Error('nothing was prepared');
    const { session } = this.#agent;
    const { system, tools, model } = session;
    const request: Request = {
      model: await model.load(),
      system,
      ...wireOf(fitted, model.provider === 'anthropic'),
      tools,
      signal,
      onText: (type, text) => this.#agent.emit({ type, text }),
      onRetry: (retry) => this.#agent.emit({ type: 'retry', ...retry }),
    };
    this.#sent = sentFor(session, request);
    const answer = await askModel(request);
    switch (answer.kind) {
      case 'answer':
        return this.#answered(answer.messages, answer.usage, answer.cutOff);
      case 'aborted':
        if (answer.text !== '') await this.#keepAborted(answer.text, answer.usage);
        return { kind: 'aborted' };
      case 'overflow':
        return { kind: 'overflowed', reason: answer.reason, refusal: answer.refusal };
      case 'failure':
        return { kind: 'failed', reason: answer.reason };
    }
  }

  async #answered(
    wire: readonly AiSdkMessage[],
    usage: Usage,
    cutOff: boolean,
  ): Promise<MachineEvent> {
    const { session, options } = this.#agent;
    const time = options.clock.now();
    const meta = { time, usage, model: session.model.name, status: 'complete' } as const;
    const messages = aiSdk
      .decode(wire)
      .map((message): Message =>
        message.role === 'assistant' ? { ...message, meta } : { ...message, meta: { time } },
      );
    const ids = await session.append(...messages);
    this.#calls = openCalls(messages);
    for (const [i, message] of messages.entries())
      if (message.role === 'assistant') this.#tellAssistant(ids[i] as MessageId, message, usage);
    const calls = this.#calls.length + messages.flatMap(resultsOf).length;
    if (cutOff) this.#notice('The answer was cut off at its output limit.');
    else if (calls === 0 && messages.every((message) => textOf(message).trim() === ''))
      this.#notice('The model answered nothing.');
    await this.#learnWindow();
    this.#agent.tellContext();
    return { kind: 'answered', calls };
  }

  /** Asks once, after the first answer. */
  async #learnWindow(): Promise<void> {
    const { session } = this.#agent;
    if (this.#asked === session.model) return;
    this.#asked = session.model;
    const model = await withLoadedWindow(session.model);
    if (model === undefined) return;
    await session.change({ model });
    this.#asked = model;
    this.#notice(`${model.name} runs with a window of ${tokensText(model.windowTokens)} tokens.`);
    this.#agent.tellSession();
  }

  #notice(text: string): void {
    this.#agent.emit({ type: 'notice', text });
  }

  #tellAssistant(
    id: MessageId,
    message: Message,
    usage: Usage,
    status: 'complete' | 'aborted' = 'complete',
  ): void {
    const calls = callsOf(message).map(({ callId, tool }) => ({ callId, tool }));
    this.#agent.emit({ type: 'assistant', id, text: textOf(message), calls, usage, status });
  }

  async #keepAborted(text: string, usage: Usage): Promise<void> {
    const { session, options } = this.#agent;
    const message = textMessage('assistant', text, {
      time: options.clock.now(),
      status: 'aborted',
      model: session.model.name,
      ...(usageTokens(usage) === 0 ? {} : { usage }),
    });
    const [id] = await session.append(message);
    this.#tellAssistant(id as MessageId, message, usage, 'aborted');
  }

  /** Runs the calls one after another; each result is kept as soon as it is there. */
  async act(signal: AbortSignal): Promise<MachineEvent> {
    for (const call of this.#calls) await this.#carryOut(call, signal);
    this.#calls = [];
    return { kind: signal.aborted ? 'aborted' : 'acted' };
  }

  async #carryOut(call: CallPart, signal: AbortSignal): Promise<void> {
    const { session, options, emit } = this.#agent;
    const { clock, folders, vault } = options;
    const { callId, tool } = call;
    const startedAt = clock.now();
    const args = (parseJson(call.args) ?? call.args) as Json;
    emit({ type: 'tool-start', callId, tool, args });
    const output = await this.#runner.run(call, {
      root: folders.project,
      key: session.key,
      store: vault.store,
      artifacts: vault.artifacts,
      signal,
      progress: (text) => emit({ type: 'tool-output', callId, text }),
    });
    await session.append(resultMessage(call, output, startedAt, clock.now()));
    const { outcome, text, diff } = output;
    const change = diff === undefined ? {} : { diff };
    emit({ type: 'tool-end', callId, tool, outcome, text, ...change });
  }
}

/** The messages to send, with the positions of cache markers among them for a provider that wants any. */
function wireOf(
  fitted: Fitted<AiSdkMessage>,
  marked: boolean,
): { messages: readonly AiSdkMessage[]; cachePoints: readonly number[] } {
  if (!marked) return { messages: fitted.messages, cachePoints: [] };
  const points = new Set(fitted.prompt.cachePoints);
  const messages: AiSdkMessage[] = [];
  const cachePoints: number[] = [];
  for (const [i, { message }] of fitted.prompt.messages.entries()) {
    messages.push(...aiSdk.encode([message]));
    if (points.has(i) && messages.length > 0) cachePoints.push(messages.length - 1);
  }
  return { messages, cachePoints };
}
