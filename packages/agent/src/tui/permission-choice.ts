import type { AgentEvent } from '../events.ts';
import type { Answer } from '../loop/permissions.ts';
import type { Choice } from './chooser.ts';
import type { Keys } from './question.ts';

type Permission = Extract<AgentEvent, { type: 'permission' }>;

/** What a person is asked before a tool does something, and the keys that answer: a digit each, y and n. */
export function permissionChoice(event: Permission): { choice: Choice; keys: Keys } {
  const { tool, request, diff, alike } = event;
  const what = { run: 'run', write: 'change', read: 'read' }[request.kind];
  const where = request.outside ? ' outside the project' : '';
  const answers = answersTo(request, alike);
  const items = answers.map(([value, label], i) => ({ value, label: `${i + 1} ${label}` }));
  const choice: Choice = {
    title: `${tool} wants to ${what}${where}: ${request.subject}`,
    ...(diff === undefined ? {} : { diff }),
    items,
    marked: 'no',
  };
  const digits = items.map(({ value }, i) => [String(i + 1), value] as const);
  return { choice, keys: { y: 'yes', n: 'no', ...Object.fromEntries(digits) } };
}

function answersTo(
  { kind, outside }: Permission['request'],
  alike: string | undefined,
): readonly (readonly [Answer, string])[] {
  const same = kind === 'run' ? 'this very command' : 'this path';
  return [
    ['yes', 'yes (y)'],
    ...(kind === 'write' && !outside ? [['edits', 'yes, all edits from now on'] as const] : []),
    ...(alike === undefined
      ? []
      : [['alike', `yes, all: ${alike.replace(/ \*$/, ' …')}`] as const]),
    ['always', `yes, ${same} from now on`],
    ['no', 'no (n)'],
  ];
}
