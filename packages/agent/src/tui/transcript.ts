import { Container, Markdown, Spacer, Text, type Component } from '@earendil-works/pi-tui';
import { textOf, type Message } from '@bobbin/core';
import {
  callsOf,
  isSummary,
  parseJson,
  resultsOf,
  resultText,
  type Json,
} from '@bobbin/core/internal';
import type { AgentEvent, CompactionEnd } from '../events.ts';
import type { ShownCompaction } from '../compaction/past-compactions.ts';
import { saidIn } from '../loop/said.ts';
import { UNKNOWN_OUTCOME } from '../loop/unknown-outcome.ts';
import { AttachmentView } from './attachment-view.ts';
import { CompactionCard } from './compaction-card.ts';
import { printable } from './printable.ts';
import { ReasoningView } from './reasoning-view.ts';
import type { Theme } from './theme.ts';
import { ToolView } from './tool-view.ts';

const SHOWN_MESSAGES = 40;

type Foldable = Component & { folded: boolean };

/** What was said and done, top to bottom; it grows with the agent's events. */
export class Transcript extends Container {
  readonly #theme: Theme;
  readonly #tools = new Map<string, ToolView>();
  readonly #foldable = new Set<Foldable>();
  #streaming: { view: Markdown; text: string } | undefined;
  #reasoning: ReasoningView | undefined;
  /** What is said while an answer comes: it follows the answer. */
  #beside: string[] = [];
  /** Whether the end of what was interrupted is shown already. */
  #isShown = false;
  #folded = true;
  /** How many messages of the thread it shows or replaces. */
  messages = 0;

  constructor(theme: Theme) {
    super();
    this.#theme = theme;
  }

  toggleFolds(): void {
    this.#folded = !this.#folded;
    for (const view of this.#foldable) view.folded = this.#folded;
  }

  /** Shows the end of a thread that was there already, with the compactions made on the way. */
  restart(
    messages: readonly Message[],
    length: number,
    compactions: readonly ShownCompaction[] = [],
  ): void {
    this.clear();
    this.#tools.clear();
    this.#foldable.clear();
    this.#endStream();
    this.messages = length;
    const shown = messages.slice(-SHOWN_MESSAGES);
    if (length > shown.length)
      this.say(this.#theme.dim(`(${length - shown.length} earlier messages)`));
    const first = length - shown.length;
    // The last of the messages before what is shown holds what the model reads instead.
    const earlier = compactions.filter(({ after }) => after <= first).slice(-1);
    for (const { end } of earlier) this.#compaction(end);
    for (const [i, message] of shown.entries()) {
      this.#replay(message);
      for (const { after, end } of compactions) if (after === first + i + 1) this.#compaction(end);
    }
  }

  #compaction(end: CompactionEnd): void {
    this.#foldableChild(new CompactionCard(this.#theme, end));
  }

  #replay(message: Message): void {
    const text = textOf(message);
    if (message.role === 'user' && !isSummary(message) && text !== '') {
      const { typed, attached = [] } = saidIn(message);
      this.#user(typed, attached.join('\n\n'));
    }
    const thought = message.parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : []));
    if (thought.join('') !== '') this.#think(thought.join('\n'));
    this.#reasoning = undefined;
    if (message.role === 'assistant' && text !== '') this.#assistant(text);
    for (const { callId, tool, args } of callsOf(message))
      this.#toolStart(callId, tool, parseJson(args) ?? args);
    for (const result of resultsOf(message)) {
      const said = resultText(result);
      const outcome = said === UNKNOWN_OUTCOME ? 'unknown' : (result.outcome ?? 'success');
      this.#tools.get(result.callId)?.finish(outcome, said);
    }
  }

  take(event: AgentEvent): void {
    switch (event.type) {
      case 'user':
        this.messages += 1;
        return this.#user(
          event.typed ?? event.text,
          event.typed === undefined ? '' : event.text.slice(event.typed.length).trim(),
        );
      case 'text':
        return this.#stream(event.text);
      case 'reasoning':
        return this.#think(event.text);
      case 'retry':
        return this.#dropStream();
      case 'assistant':
        this.messages += 1;
        if (this.#streaming === undefined && event.text !== '') this.#assistant(event.text);
        return this.#endStream();
      case 'tool-start':
        return this.#toolStart(event.callId, event.tool, event.args);
      case 'tool-output':
        return this.#tools.get(event.callId)?.add(event.text);
      case 'tool-end':
        this.messages += 1;
        return this.#tools.get(event.callId)?.finish(event.outcome, event.text, event.diff);
      case 'compaction-end':
        return this.#compaction(event);
      case 'compaction-stopped':
        this.#isShown = event.reason === 'interrupted';
        return this.#isShown
          ? undefined
          : this.say(this.#theme.dim(`Compaction stopped: ${printable(event.reason)}.`));
      case 'command':
        return event.text === '' || event.choices === true
          ? undefined
          : this.#remark(printable(event.text));
      case 'notice':
        return this.#remark(this.#theme.dim(printable(event.text)));
      case 'error':
        return this.#remark(this.#theme.error(`Error: ${printable(event.error)}`));
      case 'end':
        this.#endStream();
        if (event.reason === 'interrupted' && !this.#isShown)
          this.say(this.#theme.dim('Interrupted.'));
        this.#isShown = false;
        return undefined;
      case 'compaction-start':
      case 'context':
      case 'permission':
      case 'phase':
      case 'queued':
      case 'returned':
      case 'session':
        return undefined;
    }
  }

  say(text: string): void {
    this.addChild(new Text(`\n${text}`, 0, 0));
  }

  /** Says something; while an answer comes, after it. */
  #remark(text: string): void {
    if (this.#streaming === undefined) this.say(text);
    else this.#beside.push(text);
  }

  #endStream(): void {
    this.#streaming = undefined;
    this.#reasoning = undefined;
    for (const text of this.#beside.splice(0)) this.say(text);
  }

  #dropStream(): void {
    for (const view of [this.#streaming?.view, this.#reasoning])
      if (view !== undefined) this.removeChild(view);
    this.#endStream();
  }

  #think(text: string): void {
    if (this.#reasoning === undefined) {
      this.#reasoning = new ReasoningView(this.#theme);
      this.#foldableChild(this.#reasoning);
    }
    this.#reasoning.add(text);
  }

  #user(typed: string, attached: string): void {
    const { accent } = this.#theme;
    this.addChild(new Text(`\n${accent('>')} ${printable(typed)}`, 0, 0));
    if (attached !== '') this.#foldableChild(new AttachmentView(this.#theme, attached));
  }

  #assistant(text: string): Markdown {
    const view = new Markdown(printable(text), 0, 0, this.#theme.markdown);
    this.addChild(new Spacer(1));
    this.addChild(view);
    return view;
  }

  #stream(text: string): void {
    this.#streaming ??= { view: this.#assistant(''), text: '' };
    this.#streaming.text += text;
    this.#streaming.view.setText(printable(this.#streaming.text));
  }

  #toolStart(callId: string, tool: string, args: Json): void {
    this.#endStream();
    const view = new ToolView(this.#theme, tool, args);
    this.#tools.set(callId, view);
    this.#foldableChild(view);
  }

  #foldableChild(view: Foldable): void {
    view.folded = this.#folded;
    this.#foldable.add(view);
    this.addChild(view);
  }
}
