import type { Usage } from '@bobbin/core';
import { usageTokens } from '@bobbin/core/internal';
import { Agent } from '../loop/agent.ts';
import type { AgentOptions } from '../agent-options.ts';
import type { Choices } from '../commands/command.ts';
import type { AgentEvent } from '../events.ts';
import { tokensText } from '../figures.ts';
import { InputHistory } from '../input/input-history.ts';
import { ledgerOf, priceOf } from '../session/ledger.ts';
import { shownCompactions } from '../compaction/past-compactions.ts';
import type { Answer } from '../loop/permissions.ts';
import { saidIn } from '../loop/said.ts';
import type { AgentSession } from '../session/session.ts';
import { addUsage, NO_USAGE } from '../model/usage.ts';
import { permissionChoice } from './permission-choice.ts';
import type { Screen } from './screen.ts';
import type { Theme } from './theme.ts';
import { Transcript } from './transcript.ts';

/** As many lines as the editor remembers. */
const REMEMBERED = 100;

/** Events that are not part of a thread: they are shown also after a newer state of it. */
const REMARKS: ReadonlySet<AgentEvent['type']> = new Set(['command', 'notice', 'error']);

/** An agent on a screen: what is typed goes in, events come out. */
export class Conversation {
  readonly #options: AgentOptions;
  readonly #history: InputHistory;
  readonly #screen: Screen;
  readonly #transcript: Transcript;
  #agent: Agent | undefined;
  #session = '';
  #usage: Usage = NO_USAGE;
  #price: number | undefined;
  /** What happens while a session is read to be shown. */
  #waiting: AgentEvent[] | undefined;
  /** Lines are carried out one after another. */
  #work: Promise<unknown> = Promise.resolve();

  private constructor(options: AgentOptions, screen: Screen, theme: Theme) {
    this.#options = options;
    this.#history = new InputHistory(options.folders);
    this.#screen = screen;
    this.#transcript = new Transcript(theme);
    screen.body.addChild(this.#transcript);
  }

  static async open(options: AgentOptions, screen: Screen, theme: Theme): Promise<Conversation> {
    const conversation = new Conversation(options, screen, theme);
    const agent = await Agent.start(options, (event) => conversation.#take(event));
    conversation.#agent = agent;
    agent.tellStart();
    await conversation.#remember(agent);
    // Commands are loaded after the first drawing of the session.
    setImmediate(() => void conversation.#complete());
    return conversation;
  }

  /** Brings back what was typed in this folder before; for a session that comes from elsewhere, what was said in it. */
  async #remember({ session }: Agent): Promise<void> {
    const typed = this.#history.lines();
    const said = typed.length > 0 ? [] : (await session.turns()).map(({ message }) => message);
    for (const line of [...said.map((message) => saidIn(message).typed), ...typed].slice(
      -REMEMBERED,
    ))
      this.#screen.editor.addToHistory(line);
  }

  async #complete(): Promise<void> {
    const { COMMANDS } = await import('../commands/commands.ts');
    this.#screen.complete(
      COMMANDS.map(({ name, summary, operands }) => ({
        name,
        description: summary,
        ...(operands === '' ? {} : { argumentHint: operands }),
      })),
    );
  }

  submit(text: string): void {
    if (text !== '') this.#history.add(text);
    this.#work = this.#work.then(() => this.#carryOut(text));
  }

  interrupt(): void {
    this.#agent?.interrupt();
  }

  toggleFolds(): void {
    this.#transcript.toggleFolds();
  }

  /** The session to come back to; undefined if nothing was said in it. */
  get resumable(): string | undefined {
    const session = this.#agent?.session;
    return session === undefined || session.handle.length === 0 ? undefined : session.id;
  }

  async close(): Promise<void> {
    this.#agent?.interrupt();
    await this.#agent?.rest();
    await this.#agent?.close();
  }

  async #carryOut(text: string): Promise<void> {
    if (this.#agent === undefined) return;
    const { submit } = await import('../loop/submit.ts');
    const { choices } = (await submit(this.#agent, text)) ?? {};
    // Not awaited: the choice is a new line to carry out.
    if (choices !== undefined && choices.items.length > 0)
      void this.#offer(text.trim().split(/\s/)[0] ?? '', choices);
  }

  async #offer(command: string, choices: Choices): Promise<void> {
    const value = await this.#screen.choose(choices);
    if (value !== undefined) this.submit(`${command} ${value}`);
  }

  #take(event: AgentEvent): void {
    const { status, editor } = this.#screen;
    if (event.type === 'session') this.#takeSession(event.session, event.messages);
    if (event.type === 'phase') status.phase = event.phase;
    if (event.type === 'retry') status.retry = event;
    if (event.type === 'queued') status.queue = event.texts;
    if (event.type === 'returned') {
      status.queue = [];
      const texts = [...event.texts, editor.getText()];
      editor.setText(texts.filter((text) => text !== '').join('\n'));
    }
    if (event.type === 'assistant' || event.type === 'compaction-end') this.#pay(event.usage);
    if (event.type === 'context') this.#takeContext(event);
    if (event.type === 'permission') void this.#askPermission(event);
    if (this.#waiting === undefined) this.#transcript.take(event);
    else this.#waiting.push(event);
    this.#screen.draw();
  }

  /** A session that was there before, or whose path has changed, is drawn again. */
  #takeSession(session: string, messages: number): void {
    const agent = this.#agent;
    const isOther = session !== this.#session && this.#session !== '';
    this.#session = session;
    if (agent === undefined || (!isOther && messages === this.#transcript.messages)) return;
    void this.#restart(agent.session, messages);
    void this.#countCost(agent);
  }

  /** Draws a session again. What happens meanwhile is shown after it. */
  async #restart(session: AgentSession, length: number): Promise<void> {
    const waiting = this.#waiting?.filter(({ type }) => REMARKS.has(type)) ?? [];
    this.#waiting = waiting;
    const messages = [...session.handle.messages];
    // What cannot be read fails again, with its reason, when it is needed next.
    const compactions = await shownCompactions(session).catch(() => []);
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    this.#transcript.restart(messages, length, compactions);
    for (const event of waiting) this.#transcript.take(event);
    this.#screen.redraw();
  }

  /** What the session cost before it was opened here. */
  async #countCost(agent: Agent): Promise<void> {
    const { answers, summaries, price } = await ledgerOf(agent.session);
    this.#usage = addUsage(answers, summaries);
    this.#price = price;
    agent.tellContext();
  }

  #pay(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage);
    const model = this.#agent?.session.model.name ?? this.#options.model;
    const price = priceOf(usage, model, this.#options.settings);
    if (price !== undefined) this.#price = (this.#price ?? 0) + price;
  }

  #takeContext(event: Extract<AgentEvent, { type: 'context' }>): void {
    const { tokens, windowTokens, automatic, usage } = event;
    const session = this.#agent?.session;
    const cost =
      this.#price === undefined
        ? `used ${tokensText(usageTokens(this.#usage))}`
        : `cost ${this.#price.toFixed(2)}`;
    const model = session?.model.name ?? this.#options.model;
    this.#screen.footer.state = { model, tokens, windowTokens, usage, automatic, cost };
  }

  async #askPermission(event: Extract<AgentEvent, { type: 'permission' }>): Promise<void> {
    const { choice, keys } = permissionChoice(event);
    const answer = await this.#screen.ask(choice, keys);
    if (answer === undefined) this.#agent?.interrupt();
    else this.#agent?.answer(event.id, answer as Answer);
  }
}
