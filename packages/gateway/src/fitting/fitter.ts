import type { Budget, Fitted, Session } from '@bobbin/core';
import {
  RequestSize,
  type ContextLimit,
  type HostRequest,
  type JsonObject,
} from '@bobbin/core/internal';
import type { ResolvedPolicy } from '../config/model-policy.ts';
import { threadNameOf } from '../identity/thread-name.ts';
import { withOtherItems } from '../protocol/body-bytes.ts';
import { messagesIn } from '../protocol/protocol.ts';
import type { ConversationPool } from './conversation-pool.ts';
import type { Action, ClientRequest, Fit, TakenRequest } from './fit.ts';
import { RequestTokens } from './request-tokens.ts';

/** To recognise more of them would hold up other requests. */
const MOST_MESSAGES = 20_000;
/** The most of a window that is kept free for an answer, however long an answer the client asks for. */
const MOST_OUTPUT_SHARE = 0.5;

/** What a request contains beside its messages, counted. */
type BesideTokens = ReturnType<RequestTokens['beside']>;

/** Makes requests fit: it finds their conversations, and asks core for the prompt. */
export class Fitter {
  readonly #pool: ConversationPool;
  readonly #tokens = new RequestTokens();
  /** Conversations that were compacted for a request that had already gone out. */
  readonly #compactedLate = new WeakSet<Session<object>>();

  constructor(pool: ConversationPool) {
    this.#pool = pool;
  }

  /**
   * The request as it should go out. It throws if it cannot be read, or if the store fails. `late` is aborted when the
   * request goes out before the work on it is done.
   */
  async fit(request: ClientRequest, late: AbortSignal): Promise<Fit> {
    try {
      return await this.#fitOnce(request, late);
    } catch (error) {
      // Somebody may have erased the thread: then it begins anew with this request.
      if (late.aborted || !(error instanceof RangeError)) throw error;
      const { tenant, endpoint, model } = request;
      this.#pool.forget(tenant, endpoint.protocol, model);
      return this.#fitOnce(request, late);
    }
  }

  async #fitOnce(request: ClientRequest, late: AbortSignal): Promise<Fit> {
    const { tenant, endpoint, model, headers, body, bytes } = request;
    const { protocol } = endpoint;
    const reason = protocol.leaveAlone(body);
    if (reason !== undefined) return { action: 'left-alone', bytes, reason };
    const messages = messagesIn(protocol, body);
    const entry = this.#pool.of(tenant, protocol, model);
    const { conversations, policy } = entry;
    if (messages === undefined)
      return { action: 'unchanged', bytes, reason: 'it has no list of messages' };
    if (policy.compaction === 'off')
      return { action: 'unchanged', bytes, reason: 'compaction is off for the model' };
    if (messages.length > MOST_MESSAGES)
      return { action: 'unchanged', bytes, reason: `it has more than ${MOST_MESSAGES} messages` };
    const thread = threadNameOf(headers, body);
    const host = await conversations.take(messages, { thread, signal: late });
    const pendingWrite = this.#pool.pending(host.session.key, entry);
    this.#pool.used(entry, host.session.key, bytes.length);
    const fit = await this.#fit(request, messages, host, policy, late);
    // A request that goes out as it came need not wait: it would go out like that too if its messages could not be stored.
    if (fit.action === 'unchanged' && request.offersTools !== true) return { ...fit, pendingWrite };
    await pendingWrite?.demand();
    return fit;
  }

  async #fit(
    request: ClientRequest,
    messages: readonly JsonObject[],
    host: HostRequest<object>,
    policy: ResolvedPolicy,
    late: AbortSignal,
  ): Promise<Fit> {
    const beside = request.endpoint.protocol.beside(request.body);
    const tokens = this.#tokens.beside(host.session, beside);
    // The client's next request may have come: a prompt for this one would only be a fork.
    if (late.aborted) {
      const taken = this.#taken(request, messages, host, tokens);
      return { action: 'late', bytes: request.bytes, reason: 'no result in time', taken };
    }
    if (host.isFirst && isIdle(request, messages, policy)) {
      const taken = this.#taken(request, messages, host, tokens, host.session.sendWhole());
      return { action: 'unchanged', bytes: request.bytes, reason: 'it fits', taken };
    }
    if (!host.isFirst) await host.session.catchUp();
    const fitted = await host.prompt(promptOptions(request, tokens, policy));
    const wasLate = this.#compactedLate.delete(host.session);
    if (late.aborted && (fitted.compacted || wasLate)) this.#compactedLate.add(host.session);
    const action = fitted.compacted || wasLate ? 'compacted' : undefined;
    return this.#sent(request, messages, host, tokens, fitted, action);
  }

  /** The request after the provider refused it as too long. */
  async refit(
    request: ClientRequest,
    { action }: Fit,
    { host }: TakenRequest,
    refusal: ContextLimit,
  ): Promise<Fit> {
    const { protocol } = request.endpoint;
    this.#compactedLate.delete(host.session);
    const messages = messagesIn(protocol, request.body) ?? [];
    const tokens = this.#tokens.beside(host.session, protocol.beside(request.body));
    const fitted =
      action === 'late'
        ? await this.#refitWhole(request, host, tokens, refusal)
        : await host.refused(refusal);
    const sent = this.#sent(request, messages, host, tokens, fitted, 'retried');
    return { ...sent, reason: 'the provider refused the prompt' };
  }

  /** The whole history was refused: the prompt that would have been sent in time may do. */
  async #refitWhole(
    request: ClientRequest,
    host: HostRequest<object>,
    tokens: BesideTokens,
    // The size of the whole says nothing about the size of a prompt.
    { limitTokens }: ContextLimit,
  ): Promise<Fitted<object>> {
    const { tenant, endpoint, model } = request;
    const { policy } = this.#pool.of(tenant, endpoint.protocol, model);
    const { budget, ...options } = promptOptions(request, tokens, policy);
    const windowTokens = Math.min(policy.windowTokens, limitTokens ?? policy.windowTokens);
    const fitted = await host.prompt({ ...options, budget: { ...budget, windowTokens } });
    const known = limitTokens === undefined ? {} : { limitTokens };
    return isWhole(fitted) ? host.refused(known) : fitted;
  }

  #sent(
    request: ClientRequest,
    messages: readonly JsonObject[],
    host: HostRequest<object>,
    tokens: BesideTokens,
    fitted: Fitted<object>,
    action: Action | undefined,
  ): Fit {
    const { bytes, body, endpoint } = request;
    const { field, mark } = endpoint.protocol;
    const taken = this.#taken(request, messages, host, tokens, fitted.prompt.tokens);
    const reason = whyCompacted(fitted);
    if (isWhole(fitted))
      return { action: action ?? 'unchanged', bytes, reason: reason ?? 'it fits', taken };
    const shown = mark?.(body, fitted.messages, fitted.prompt) ?? fitted.messages;
    const changed = withOtherItems(bytes, field, messages, shown);
    if (changed === undefined) throw new Error(`${field}: its bytes cannot be located`);
    // A plan that was undone shows everything again.
    if (action === undefined && changed.equals(bytes))
      return { action: 'unchanged', bytes, reason: 'it fits', taken };
    return {
      action: action ?? 'continued',
      bytes: changed,
      reason: reason ?? (action === 'compacted' ? LATE_COMPACTION : 'an earlier compaction'),
      taken,
    };
  }

  #taken(
    request: ClientRequest,
    messages: readonly JsonObject[],
    host: HostRequest<object>,
    { systemTokens, toolTokens }: BesideTokens,
    promptTokens?: number,
  ): TakenRequest {
    const { codec } = request.endpoint.protocol;
    const { session, head } = host;
    if (head === undefined) throw new Error('the conversation has no messages');
    const beside = systemTokens + toolTokens;
    const whole = beside + this.#tokens.messages(session, messages, codec);
    const tokensAfter = promptTokens === undefined ? whole : beside + promptTokens;
    const tokensBefore = whole - this.#addedTokens(request, messages, host.session, beside);
    return { host, thread: session.key.thread, head, tokensBefore, tokensAfter };
  }

  /** What the gateway itself has added to a request: its tools, and rounds that the client has not seen. */
  #addedTokens(
    { withoutTools, endpoint: { protocol } }: ClientRequest,
    messages: readonly JsonObject[],
    { counter }: Session<object>,
    beside: number,
  ): number {
    if (withoutTools === undefined) return 0;
    const { system, tools } = protocol.beside(withoutTools.body);
    const { systemTokens = 0, toolTokens = 0 } = new RequestSize().measure(counter, system, tools);
    const clients = new Set(messagesIn(protocol, withoutTools.body));
    const hidden = protocol.codec.decode(messages.filter((message) => !clients.has(message)));
    const hiddenTokens = hidden.reduce((sum, message) => sum + counter.message(message), 0);
    return beside - systemTokens - toolTokens + hiddenTokens;
  }
}

const LATE_COMPACTION = 'compacted after the last request had gone out';

/** What core must know to make the prompt of a request. */
function promptOptions(
  { endpoint, body, offersTools }: ClientRequest,
  tokens: BesideTokens,
  { windowTokens }: ResolvedPolicy,
): { readonly budget: Partial<Budget>; readonly offersReadArtifact: boolean } {
  const most = Math.floor(windowTokens * MOST_OUTPUT_SHARE);
  const outputTokens = Math.min(endpoint.protocol.beside(body).outputTokens, most);
  return { budget: { ...tokens, outputTokens }, offersReadArtifact: offersTools === true };
}

/** True if no policy has anything to do: nobody has answered yet, and the request is small. */
function isIdle(
  { bytes, offersTools }: ClientRequest,
  messages: readonly JsonObject[],
  { idleBytes }: ResolvedPolicy,
): boolean {
  return (
    offersTools !== true &&
    bytes.length <= idleBytes &&
    messages.every(({ role }) => typeof role === 'string' && OPENING_ROLES.has(role))
  );
}

/** Who speaks before a model has answered. */
const OPENING_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user']);

/** What core compacted for; undefined if it did not. */
function whyCompacted({ compacted, events }: Fitted<object>): string | undefined {
  if (!compacted) return undefined;
  const reasons = events.flatMap((event) => (event.kind === 'check-started' ? [event.reason] : []));
  return reasons.length === 0 ? 'the provider compacted it' : [...new Set(reasons)].join('; ');
}

/** True if the prompt is the client's own list: no plan has changed anything. */
function isWhole({ plan, prompt }: Fitted<object>): boolean {
  return (
    plan.records.length === 0 &&
    plan.hides.length === 0 &&
    plan.start === 0 &&
    plan.signedFrom === 0 &&
    prompt.messages.every(({ source }) => source.kind === 'kept')
  );
}
