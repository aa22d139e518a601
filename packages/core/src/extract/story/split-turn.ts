import { textOf } from '../../message/message.ts';
import type { SplitTurn } from '../../plan/summary.ts';
import type { Node } from '../../thread/thread.ts';
import { passagesOf } from './passages.ts';

/** What the agent said and did in the beginning of a turn whose end stays: the newest lines that fit, in its own words. */
export function splitTurnText(
  nodes: readonly Node[],
  { turn }: { readonly turn: number },
  before: SplitTurn | null,
  mostChars: number,
): SplitTurn {
  const own = nodes.filter((node) => node.turn === turn && node.message.role === 'assistant');
  const carried = before?.turn === turn ? before.text.split('\n') : [];
  const lines = [...carried, ...own.flatMap(saidIn)];
  let left = mostChars;
  const from = lines.findLastIndex((line) => (left -= line.length + 1) < 0) + 1;
  return { turn, text: lines.slice(from).join('\n') };
}

function saidIn({ message, index }: Node): readonly string[] {
  const lines = passagesOf(textOf(message))
    .filter(({ kind }) => kind === 'prose')
    .map(({ text }) => text.replaceAll('\n', ' '))
    .filter((text) => text.length > 20);
  return lines.map((line) => `- [m${index + 1}] ${line}`);
}
