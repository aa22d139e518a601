import type { Counter, Fitted, Message } from '@bobbin/core';
import { hasResults, isSummary } from '@bobbin/core/internal';
import type { Style } from '../output/screen.ts';

/** What tokens are spent on, as a bar shows it. */
export type Kind = 'system' | 'user' | 'assistant' | 'results' | 'excerpts' | 'summary';

export type Shares = Readonly<Record<Kind, number>>;

/** Every kind has its own sign and colour, so that a bar can be read with and without colours. */
export const KINDS: Readonly<Record<Kind, { readonly sign: string; readonly color: Style }>> = {
  summary: { sign: '▚', color: 'magenta' },
  system: { sign: '■', color: 'white' },
  user: { sign: '█', color: 'green' },
  assistant: { sign: '▓', color: 'blue' },
  excerpts: { sign: '░', color: 'yellow' },
  results: { sign: '▒', color: 'cyan' },
};

/** What a conversation spends its tokens on. */
export function sharesOf(messages: readonly Message[], counter: Counter): Shares {
  const shares = emptyShares();
  for (const message of messages) shares[kindOf(message)] += counter.message(message);
  return shares;
}

/** What a prompt spends them on: what the plan made is separate from what was kept. */
export function promptShares({ prompt }: Fitted<unknown>, counter: Counter): Shares {
  const shares = emptyShares();
  for (const { message, source } of prompt.messages) {
    const kind =
      source.kind === 'record'
        ? 'summary'
        : source.kind === 'changed' && hasResults(message)
          ? 'excerpts'
          : kindOf(message);
    shares[kind] += counter.message(message);
  }
  return shares;
}

function kindOf(message: Message): Kind {
  if (isSummary(message)) return 'summary';
  return message.role === 'tool' || hasResults(message) ? 'results' : message.role;
}

function emptyShares(): Record<Kind, number> {
  return { summary: 0, system: 0, user: 0, assistant: 0, excerpts: 0, results: 0 };
}
