import { textOf, type Store, type Summary, type Session } from '@bobbin/core';
import { EMPTY_SUMMARY, extractSummarizer, fitSummary, startsTurn } from '@bobbin/core/internal';
import { isSpoken } from './message.ts';
import type { Listed } from './shown.ts';

/** What a summary by OpenCode must hold is described in at most this many tokens. */
const CONTEXT_TOKENS = 2_000;

/** A session as it was shown last. */
interface View {
  /** What it goes on with: after a compaction of OpenCode it is another conversation. */
  readonly conversation: { readonly session: Session };
  /** What the user asks in the list; undefined if no list was shown. */
  readonly task: string | null | undefined;
  /** True if the user's own words open the list: nothing came before. */
  readonly isWhole: boolean;
}

/**
 * A session of OpenCode. After each compaction its lists begin again, with a summary and a text that OpenCode writes
 * for the user. What the user asked and ruled before is in none of them, and is carried here. All else is in OpenCode's
 * own summary, and would name messages by the numbers of another list.
 */
export class OpencodeSession {
  #view: View;
  #carried: Summary = EMPTY_SUMMARY;

  constructor(conversation: View['conversation']) {
    this.#view = { conversation, task: undefined, isWhole: true };
  }

  /** The thread that it goes on with. */
  get key(): Session['key'] {
    return this.#view.conversation.session.key;
  }

  /** Notes the list that OpenCode shows now. */
  show(conversation: View['conversation'], listed: Listed): void {
    const [first] = listed.host;
    const isWhole = first?.info.role === 'user' && first.parts.some(isSpoken);
    this.#view = { conversation, task: taskOf(listed), isWhole };
  }

  /** The extract of all that was said, without a model: what a summary by one has to hold. */
  async mustSurvive(store: Store): Promise<string | undefined> {
    const { conversation, task, isWhole } = this.#view;
    const { session } = conversation;
    if (session.head === undefined) return undefined;
    const nodes = await store.path(session.key, session.head);
    const said = nodes.find(({ message }) => startsTurn(message));
    const summary = await extractSummarizer.summarize({
      nodes,
      previous: isWhole ? null : this.#carried,
      task: task === undefined && said !== undefined ? textOf(said.message) : (task ?? null),
      round: 1,
      overlap: [],
      maxTokens: CONTEXT_TOKENS,
      counter: session.counter,
    });
    this.#carried = { ...EMPTY_SUMMARY, task: summary.task, facts: summary.facts };
    const text = fitSummary(summary, CONTEXT_TOKENS, session.counter);
    return text === undefined ? undefined : `The summary must keep all of this:\n\n${text}`;
  }
}

/** What the user asked first: OpenCode speaks in the user's name too. */
function taskOf({ host, messages, owners }: Listed): string | null {
  const said = messages.find((message, i) => {
    const owner = host[owners[i] ?? -1];
    return startsTurn(message) && owner !== undefined && owner.parts.some(isSpoken);
  });
  return said === undefined ? null : textOf(said);
}
