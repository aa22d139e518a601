import { basename } from 'node:path';
import { usageTokens, type Usage } from '@bobbin/core';
import { Agent, type AgentOptions } from '../agent.ts';
import type { Choices } from '../commands/command.ts';
import { COMMANDS } from '../commands/commands.ts';
import type { AgentEvent } from '../events.ts';
import { tokensText } from '../figures.ts';
import { ledgerOf, priceOf } from '../ledger.ts';
import { reasonOf } from '../provider-error.ts';
import { submit } from '../submit.ts';
import { Screen } from '../tui/screen.ts';
import { themeFor } from '../tui/theme.ts';
import { addUsage, NO_USAGE } from '../usage.ts';

/** The agent in a terminal. The screen is there at once; the session is opened behind it. */
export async function tuiMode(
  options: AgentOptions,
  prompt: string,
  choose: boolean,
): Promise<void> {
  const tui = new TerminalUi(options);
  await tui.run(prompt, choose);
}

class TerminalUi {
  readonly #options: AgentOptions;
  readonly #screen: Screen;
  #agent: Agent | undefined;
  #session = '';
  #usage: Usage = NO_USAGE;
  #quit: () => void = () => undefined;
  /** What is typed before the session is open, and commands one after another. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: AgentOptions) {
    this.#options = options;
    const { folders, env } = options;
    const theme = themeFor(env);
    this.#screen = new Screen(theme, folders.project, COMMANDS, {
      submit: (text) => this.#submit(text),
      interrupt: () => this.#agent?.interrupt(),
      quit: () => this.#quit(),
    });
    this.#screen.transcript.say(
      `${theme.bold('bobbin')} ${theme.dim(`in ${basename(folders.project)}`)}`,
    );
  }

  async run(prompt: string, choose: boolean): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#quit = resolve;
    });
    this.#screen.start();
    const opened = this.#open();
    this.#work = opened;
    if (choose) this.#submit('/resume');
    if (prompt !== '') this.#submit(prompt);
    try {
      await Promise.race([over, opened.then(() => over)]);
    } finally {
      this.#screen.stop();
    }
    this.#agent?.interrupt();
    await this.#agent?.rest();
  }

  async #open(): Promise<void> {
    // What the constructor draws must be on the screen before anything heavy is loaded.
    await new Promise((resolve) => setImmediate(resolve));
    this.#agent = await Agent.start(this.#options, (event) => this.#take(event));
    this.#agent.tellSession();
    for (const { meta, role, parts } of this.#agent.session.handle.messages) {
      const [first] = parts;
      if (role === 'user' && meta?.synthetic !== true && first?.kind === 'text')
        this.#screen.editor.addToHistory(first.text);
    }
  }

  #submit(text: string): void {
    this.#work = this.#work
      .then(() => this.#carryOut(text))
      .catch((error: unknown) => this.#complain(error));
  }

  async #carryOut(text: string): Promise<void> {
    if (this.#agent === undefined) return;
    const result = await submit(this.#agent, text);
    const { choices } = result ?? {};
    if (choices === undefined || choices.items.length === 0) return;
    const command = text.trim().split(/\s/)[0] ?? '';
    // Not awaited: whatever is chosen is a new line to carry out.
    void this.#offer(command, choices);
  }

  async #offer(command: string, { title, items }: Choices): Promise<void> {
    const value = await this.#screen.choose(title, items);
    if (value !== undefined) this.#submit(`${command} ${value}`);
  }

  #complain(error: unknown): void {
    this.#screen.transcript.take({ type: 'error', error: reasonOf(error) });
    this.#screen.draw();
  }

  #take(event: AgentEvent): void {
    const { transcript, status, editor } = this.#screen;
    if (event.type === 'session') this.#takeSession(event.session, event.messages);
    if (event.type === 'phase') status.phase = event.phase;
    if (event.type === 'queued') status.queue = event.texts;
    if (event.type === 'returned') {
      status.queue = [];
      editor.setText([...event.texts, editor.getText()].filter((text) => text !== '').join('\n'));
    }
    if (event.type === 'assistant') this.#usage = addUsage(this.#usage, event.usage);
    if (event.type === 'compaction-end') this.#usage = addUsage(this.#usage, event.usage);
    if (event.type === 'context') this.#takeContext(event);
    if (event.type === 'permission') void this.#askPermission(event);
    transcript.take(event);
    this.#screen.draw();
  }

  /** A session that begins anew, or whose path is another one now, is shown anew. */
  #takeSession(session: string, messages: number): void {
    const { transcript } = this.#screen;
    const agent = this.#agent;
    if (
      agent !== undefined &&
      (session !== this.#session
        ? this.#session !== '' || messages > 0
        : messages !== transcript.messages)
    ) {
      transcript.restart(agent.session.handle.messages, messages);
      void this.#count(agent);
    }
    this.#session = session;
  }

  /** What the session cost before it was opened here. */
  async #count(agent: Agent): Promise<void> {
    const { answers, summaries } = await ledgerOf(agent.session);
    this.#usage = addUsage(answers, summaries);
    agent.tellContext();
  }

  #takeContext({
    tokens,
    windowTokens,
    automatic,
    usage,
  }: Extract<AgentEvent, { type: 'context' }>): void {
    const session = this.#agent?.session;
    const price =
      session === undefined
        ? undefined
        : priceOf(this.#usage, session.model.settings, session.cachePrices);
    const cost =
      price === undefined
        ? `used ${tokensText(usageTokens(this.#usage))}`
        : `cost ${price.toFixed(2)}`;
    const model = session?.model.name ?? this.#options.model;
    this.#screen.footer.state = { model, tokens, windowTokens, usage, automatic, cost };
  }

  async #askPermission({
    id,
    tool,
    wish,
  }: Extract<AgentEvent, { type: 'permission' }>): Promise<void> {
    const what = { run: 'run', write: 'change', read: 'read' }[wish.kind];
    const where = wish.outside ? ' outside the project' : '';
    const answer = await this.#screen.choose(`${tool} wants to ${what}${where}: ${wish.subject}`, [
      { value: 'yes', label: 'yes' },
      { value: 'always', label: 'yes, and do not ask again in this session' },
      { value: 'no', label: 'no' },
    ]);
    if (answer === undefined) this.#agent?.interrupt();
    else this.#agent?.answer(id, answer as 'yes' | 'always' | 'no');
  }
}
