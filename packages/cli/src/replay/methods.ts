import { createBobbin, type BobbinOptions, type Counter, type Message } from '@bobbin/core';

/** Gets the conversation before each request, longer each time, and gives what to send. */
export type Method = (history: readonly Message[]) => Promise<readonly Message[]>;

export const fullHistory: Method = async (history) => history;

/** Once a limit is reached the oldest messages go, down to half of it; the first stays. */
export function dropOldest(counter: Counter, limitTokens: number): Method {
  let from = 0;
  return async (history) => {
    const shown = (): readonly Message[] =>
      from === 0 ? history : [...history.slice(0, 1), ...history.slice(from)];
    if (counter.request({ messages: shown() }) <= limitTokens) return shown();
    while (from < history.length - 1 && counter.request({ messages: shown() }) > limitTokens / 2)
      from += 1;
    while (from < history.length - 1 && history[from]?.role === 'tool') from += 1;
    return shown();
  };
}

const KEPT_RESULTS = 3;

/** Once a limit is reached all results but the newest are cleared. */
export function clearResults(counter: Counter, limitTokens: number): Method {
  let to = 0;
  const cleared = new Map<Message, Message>();
  return async (history) => {
    const shown = (): readonly Message[] =>
      history.map((message, i) => (i < to ? withoutResults(message, cleared) : message));
    if (counter.request({ messages: shown() }) > limitTokens) {
      const results = history.flatMap(({ parts }, i) =>
        parts.some(({ kind }) => kind === 'result') ? [i] : [],
      );
      to = Math.max(to, results.at(-KEPT_RESULTS) ?? 0);
    }
    return shown();
  };
}

function withoutResults(message: Message, cleared: Map<Message, Message>): Message {
  if (!message.parts.some(({ kind }) => kind === 'result')) return message;
  let short = cleared.get(message);
  if (short === undefined) {
    const parts = message.parts.map((part) =>
      part.kind === 'result'
        ? { ...part, content: [{ kind: 'text', text: '[cleared]' } as const] }
        : part,
    );
    short = { role: message.role, parts };
    cleared.set(message, short);
  }
  return short;
}

/** Bobbin with a policy, one thread for the whole conversation. */
export function bobbinMethod(options: BobbinOptions): Method {
  const bobbin = createBobbin({ onEvent: () => undefined, ...options });
  return async (history) => (await bobbin.fit(history)).messages;
}
