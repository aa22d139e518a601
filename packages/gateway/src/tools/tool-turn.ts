import { createParser, type EventSourceParser } from 'eventsource-parser';
import {
  isJsonObject,
  jsonText,
  MEMORY_TOOLS,
  parseJson,
  type JsonObject,
  type Memory,
} from '@bobbin/core/internal';
import type { Ledger } from '@bobbin/stores';
import type { AnswerView, Client, Delivered, Delivery } from '../delivery.ts';
import type { ClientRequest, Fit, TakenRequest } from '../fitting/fit.ts';
import { inTime } from '../fitting/timely-fit.ts';
import { fitHeaders } from '../http/fit-headers.ts';
import { responseHeaders } from '../http/headers.ts';
import { errorBody } from '../http/refusal.ts';
import {
  endWith,
  isEventStream,
  release,
  type HeldResponse,
  type Relayed,
} from '../http/response-relay.ts';
import type { Observer } from '../observe/observer.ts';
import type { Round } from './hidden-rounds.ts';
import type { OfferedRequest } from './offered-tools.ts';
import { isOwnTool, type CallResult, type MergedEvents, type ModelCall } from './tool-shape.ts';

export interface ToolTurnOptions {
  readonly delivery: Delivery;
  readonly memory: Memory;
  readonly ledger: Ledger;
  readonly observer: Observer;
  /** How many further requests the gateway makes for one of a client's. */
  readonly mostRounds: number;
  /** How long a turn waits until it is known which thread it belongs to, and for the ledger. */
  readonly ownWorkMs: number;
  /** How long a client may read nothing of what waits for it. */
  readonly stallMs: number;
}

/** What the rounds so far came to. */
interface Progress {
  readonly answers: readonly JsonObject[];
  readonly rounds: readonly Round[];
  readonly messages: readonly JsonObject[];
  /** The model may not call tools in the next round. */
  readonly isLast: boolean;
}

/**
 * One request of a client with the gateway's tools: the gateway answers calls of them itself and asks the model again,
 * until the model answers, or calls a tool of the client's. The client sees one answer without those calls.
 */
export class ToolTurn {
  readonly #options: ToolTurnOptions;
  readonly #request: ClientRequest;
  readonly #offered: OfferedRequest;
  readonly #client: Client;
  readonly #stream: MergedStream;
  #progress: Progress;

  constructor(
    options: ToolTurnOptions,
    request: ClientRequest,
    offered: OfferedRequest,
    client: Client,
  ) {
    this.#options = options;
    this.#request = request;
    this.#offered = offered;
    this.#client = client;
    this.#stream = new MergedStream(request.endpoint.protocol.tools.newStream());
    const { messages } = offered;
    this.#progress = { answers: [], rounds: [], messages, isLast: false };
  }

  /** Answers the client, and returns what became of the last request. */
  async run(): Promise<Relayed> {
    for (;;) {
      const { messages, isLast } = this.#progress;
      const request = this.#offered.with(messages, isLast ? 'no-calls' : 'clients');
      const { delivery } = this.#options;
      const delivered = await delivery.deliver(request, this.#client, this.#stream);
      // An answer that was too long to hold has gone to the client.
      if (this.#client.outgoing.writableEnded) return delivered.relayed;
      const isBroken = delivered.relayed.kind === 'held' && this.#client.outgoing.headersSent;
      const answer = isBroken ? undefined : wholeAnswer(delivered);
      if (answer === undefined) return this.#failed(delivered);
      const next = await this.#afterRound(request, delivered, answer);
      if (next === undefined) return this.#finished(delivered);
      this.#progress = next;
      if (this.#client.outgoing.destroyed) return { kind: 'aborted' };
      this.#stream.next();
    }
  }

  /** What the model is asked next; undefined if its answer is for the client. */
  async #afterRound(
    request: ClientRequest,
    { fit }: Delivered,
    answer: JsonObject,
  ): Promise<Progress | undefined> {
    const { tools } = request.endpoint.protocol;
    const { rounds, messages, isLast } = this.#progress;
    const said = tools.asMessages(answer);
    const calls = tools.callsIn(said);
    const own = calls.filter(({ name }) => isOwnTool(name));
    const answers = [...this.#progress.answers, answer];
    const isOfRounds = own.length > 0 || rounds.length > 0;
    const taken = isOfRounds ? await this.#taken(fit) : fit.taken;
    if (own.length === 0 || !tools.waits(answer) || isLast) {
      // Nothing answers calls that were cut off, or that came after the last round.
      const shown = own.length === 0 ? said : tools.withoutOwnCalls(said);
      const last = { messages: shown, results: [] };
      this.#progress = { answers, messages, isLast, rounds: [...rounds, last] };
      await this.#keep(request, taken);
      return undefined;
    }
    const isNextLast = taken === undefined || rounds.length + 1 >= this.#options.mostRounds;
    const texts = await this.#answer(own, request, taken);
    const results = tools.results(isNextLast ? texts.map(asLast) : texts);
    const progress = {
      answers,
      isLast: isNextLast,
      rounds: [...rounds, { messages: said, results }],
      messages: [...messages, ...said, ...results],
    };
    if (own.length === calls.length) return progress;
    this.#progress = progress;
    await this.#keep(request, taken);
    return undefined;
  }

  /** What a request was recognised as, if that is known in time. */
  async #taken({ taken, pending }: Fit): Promise<TakenRequest | undefined> {
    if (taken !== undefined || pending === undefined) return taken;
    const found = pending.then((fit) => fit.taken);
    return inTime<TakenRequest | undefined>(found, this.#options.ownWorkMs, () => undefined);
  }

  /** The results of the gateway's own calls. */
  #answer(
    calls: readonly ModelCall[],
    { tenant }: ClientRequest,
    taken: TakenRequest | undefined,
  ): Promise<readonly CallResult[]> {
    if (taken === undefined)
      return Promise.resolve(calls.map(({ id }) => ({ id, text: NO_MEMORY })));
    const { thread, head } = taken;
    const memory = { ...this.#options.memory, head };
    return Promise.all(
      calls.map(async ({ id, name, args }) => {
        const tool = MEMORY_TOOLS.find(({ definition }) => definition.name === name);
        const text = await tool
          ?.answer(memory, { tenant, thread }, args)
          .catch((error: unknown) => `It failed: ${String(error)}`);
        return { id, text: text ?? '' };
      }),
    );
  }

  /** Keeps the rounds that the client's next list will not have. */
  async #keep({ tenant }: ClientRequest, taken: TakenRequest | undefined): Promise<void> {
    const { rounds } = this.#progress;
    const isAsShown = rounds.every(
      (round) => round.results.length === 0 && round.messages.length > 0,
    );
    if (taken === undefined || isAsShown) return;
    const hidden = { key: this.#offered.key, rounds: jsonText(rounds) };
    const { ledger, observer, ownWorkMs } = this.#options;
    const kept = ledger
      .addRounds(tenant, taken.thread, Date.now(), hidden)
      .catch((error: unknown) => observer.log.error({ reason: String(error) }, 'ledger'));
    // Another process may get the client's next request: it must know the rounds, unless the ledger is slow.
    await inTime(kept, ownWorkMs, () => undefined);
  }

  /** Ends the client's answer. */
  #finished({ fit, relayed }: Delivered): Relayed {
    const { outgoing } = this.#client;
    const { stallMs } = this.#options;
    const { answers } = this.#progress;
    if (outgoing.destroyed) return { kind: 'aborted' };
    if (relayed.kind !== 'held') {
      endWith(outgoing, this.#stream.end(), stallMs);
      return relayed;
    }
    const { tools } = this.#request.endpoint.protocol;
    const hasOwn = answers.some((answer) =>
      tools.callsIn(tools.asMessages(answer)).some(({ name }) => isOwnTool(name)),
    );
    if (!hasOwn) release(outgoing, relayed, fitHeaders(fit), stallMs);
    else {
      const { 'content-length': _, ...headers } = responseHeaders(relayed.headers);
      outgoing.writeHead(relayed.status, { ...headers, ...fitHeaders(fit) });
      endWith(outgoing, jsonText(tools.merged(answers)), stallMs);
    }
    return { kind: 'relayed', status: relayed.status };
  }

  /** Gives the client what a request was answered with instead of an answer. */
  #failed({ fit, relayed }: Delivered): Relayed {
    const { outgoing } = this.#client;
    const { stallMs } = this.#options;
    if (relayed.kind === 'failed' || relayed.kind === 'aborted' || outgoing.destroyed)
      return relayed;
    if (relayed.kind === 'relayed') endWith(outgoing, this.#stream.end(), stallMs);
    else if (outgoing.headersSent)
      endWith(outgoing, this.#stream.error(this.#errorIn(relayed)), stallMs);
    else release(outgoing, relayed, fitHeaders(fit), stallMs);
    return relayed.kind === 'held' ? { kind: 'relayed', status: relayed.status } : relayed;
  }

  /** The error that ends the client's stream after an answer that is no stream. */
  #errorIn({ status, body }: HeldResponse): JsonObject {
    const said = parseJson(body.toString('utf8'));
    if (status >= 400 && isJsonObject(said) && isJsonObject(said['error'])) return said;
    const { provider } = this.#request.endpoint.protocol;
    const message = `the upstream answered a further request with status ${status} and no stream`;
    return errorBody(provider, 502, message);
  }
}

const NO_MEMORY = 'Error: nothing can be read back for this request.';
const LAST_ROUND = '[Nothing more can be read for this answer: answer with what you have.]';

function asLast({ id, text }: CallResult): CallResult {
  return { id, text: `${text}\n\n${LAST_ROUND}` };
}

/** The answer of a request that succeeded. */
function wholeAnswer({ relayed, answer }: Delivered): JsonObject | undefined {
  const isGood = (relayed.kind === 'relayed' || relayed.kind === 'held') && relayed.status < 400;
  return isGood ? answer() : undefined;
}

/** The bytes of several streams as those of one. Answers that are no stream are held. */
class MergedStream implements AnswerView {
  readonly #events: MergedEvents;
  #decoder = new TextDecoder();
  #parser: EventSourceParser;
  #shown = '';

  constructor(events: MergedEvents) {
    this.#events = events;
    this.#parser = this.#newParser();
  }

  holds(status: number, headers: Parameters<AnswerView['holds']>[1]): boolean {
    return status >= 400 || !isEventStream(headers);
  }

  filter(chunk: Buffer): string {
    this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    const shown = this.#shown;
    this.#shown = '';
    return shown;
  }

  next(): void {
    this.#events.next();
    [this.#decoder, this.#parser] = [new TextDecoder(), this.#newParser()];
  }

  end(): string {
    return this.#events.end().map(eventText).join('');
  }

  error(body: JsonObject): string {
    return eventText(this.#events.error(body));
  }

  #newParser(): EventSourceParser {
    return createParser({
      onEvent: ({ data }) => {
        const event = data.startsWith('{') ? parseJson(data) : undefined;
        if (isJsonObject(event)) this.#shown += this.#events.event(event).map(eventText).join('');
      },
      onComment: (comment) => (this.#shown += `: ${comment}\n\n`),
    });
  }
}

/** An event with the name that its type gives it; chunks of Chat Completions have none. */
function eventText(event: JsonObject | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const { type } = event;
  const name = typeof type === 'string' ? `event: ${type}\n` : '';
  return `${name}data: ${jsonText(event)}\n\n`;
}
