import { headOf, recall, type Recalled } from '@bobbin/core/internal';
import { ExpectedError } from '../expected-error.ts';
import type { SlashCommand } from './command.ts';

const MOST_FOUND = 8;
const SHOWN_LINES = 3;
const SHOWN_CHARS = 240;

export const recallCommand: SlashCommand = {
  name: 'recall',
  operands: '[#N] QUERY',
  summary: 'Search what was compacted; #N shows the whole of what was found',
  when: 'any',
  async run({ session }, operands) {
    const [, nth, query = ''] = /^(?:#([1-8])\s+(?=\S))?(.*)$/s.exec(operands) ?? [];
    if (query === '') throw new ExpectedError('/recall takes words to look for');
    const all = await recall(session.store, session.key, query, { most: MOST_FOUND });
    const found = nth === undefined ? all : all.slice(Number(nth) - 1, Number(nth));
    if (found.length === 0 && all.length > 0)
      throw new ExpectedError(`/recall found ${all.length}: #1 to #${all.length}`);
    return {
      text:
        nth === undefined || all.length === 0 ? listed(found, query) : found.map(wholeOf).join(''),
      data: found.map(({ node, excerpt }) => ({
        id: node.id,
        turn: node.turn,
        role: node.message.role,
        excerpt,
      })),
    };
  },
};

/** The beginning of each; a screen should hold them all. */
function listed(found: readonly Recalled[], query: string): string {
  if (found.length === 0) return `Nothing that was compacted matches "${query}".`;
  const shown = found.map((each, i) => {
    const brief = briefly(each.excerpt);
    const more = brief === each.excerpt ? '' : `\n… /recall #${i + 1} ${query}`;
    return `#${i + 1} ${placeOf(each)}\n${brief}${more}`;
  });
  return shown.join('\n\n');
}

function wholeOf(found: Recalled): string {
  return `${placeOf(found)}\n${found.excerpt}`;
}

function placeOf({ node }: Recalled): string {
  return `[turn ${node.turn}, ${node.message.role}]`;
}

function briefly(excerpt: string): string {
  return headOf(excerpt.split('\n').slice(0, SHOWN_LINES).join('\n'), SHOWN_CHARS);
}
