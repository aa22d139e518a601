import { callsOf, resultsOf, resultText, type Message, type Part } from '../message/message.ts';
import { headOf, LINE_END, oneLine } from '../message/text.ts';
import type { Node } from '../thread/thread.ts';
import type { Counter } from '../tokens/counter.ts';
import { redactSecrets, type Redact } from './redact.ts';

/** The most of a tool result, and of one message's content, that a summarizer reads. */
const RESULT_CHARS = 500;
const CONTENT_CHARS = 2_000;
/** Begins every line of a tool's text: no text of a tool can end its own quotation. */
export const QUOTE = '| ';

/**
 * The text of a message for a summarizing model: the speaker, the words, the calls and the results. Long content is
 * cut, with a mark at the cut. Secrets are removed by `redact`.
 */
export function formatMessage({ message, turn }: Node, redact: Redact = redactSecrets): string {
  const said = message.parts.flatMap((part) => spoken(part) ?? []).join('\n');
  const calls = callsOf(message).map(
    ({ tool, args }) => `calls ${oneLine(tool)}(${cut(args, RESULT_CHARS)})`,
  );
  const body = cut([said, ...calls].filter((line) => line !== '').join('\n'), CONTENT_CHARS);
  const lines = body === '' ? [] : [`[turn ${turn}] ${message.role.toUpperCase()}:`, body];
  return redact([...lines, ...results(message, turn)].join('\n'));
}

function results(message: Message, turn: number): readonly string[] {
  return resultsOf(message).map((result) => {
    const media = result.content.flatMap((part) =>
      part.kind === 'text' ? [] : (spoken(part) ?? []),
    );
    const text = cut(
      [resultText(result), ...media].filter((line) => line !== '').join('\n'),
      RESULT_CHARS,
    );
    const outcome = result.outcome === undefined ? '' : ` (${result.outcome})`;
    const heading = `[turn ${turn}] TOOL ${oneLine(result.tool ?? 'result')}${outcome}:`;
    return [heading, ...text.split(LINE_END).map((line) => QUOTE + line)].join('\n');
  });
}

/** Images and files are named, never shown. */
function spoken(part: Part): string | undefined {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'image':
    case 'file': {
      const name = part.kind === 'file' ? (part.name ?? part.source) : part.source;
      return name.startsWith('data:')
        ? `[${part.kind}, attached]`
        : `[${part.kind} ${oneLine(name)}]`;
    }
    case 'opaque':
      return `[${oneLine(part.type)}]`;
    case 'reasoning':
    case 'call':
    case 'result':
      return undefined;
  }
}

function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const head = headOf(text, chars);
  return `${head}… [${text.length - head.length} more characters]`;
}

/** Cuts formatted messages into runs of at most so many tokens, in order; a message that is larger is a run alone. */
export function chunks<T extends { readonly text: string }>(
  items: readonly T[],
  maxTokens: number,
  counter: Counter,
): readonly (readonly T[])[] {
  const runs: T[][] = [];
  let space = 0;
  for (const item of items) {
    const tokens = counter.text(item.text) + 1;
    const last = runs.at(-1);
    if (last === undefined || tokens > space) {
      runs.push([item]);
      space = maxTokens - tokens;
    } else {
      last.push(item);
      space -= tokens;
    }
  }
  return runs;
}
