import type { Summary } from '@bobbin/core';

/**
 * What two answers about one history say together: the later account is kept, lists are joined, the later entry wins.
 */
export function mergedAnswers(earlier: Summary, later: Summary): Summary {
  return {
    ...later,
    firstTurn: earlier.firstTurn,
    facts: joined(earlier.facts, later.facts, ({ text }) => text),
    decisions: joined(earlier.decisions, later.decisions, ({ text }) => text),
    items: joined(earlier.items, later.items, ({ text }) => text),
    outcomes: joined(
      earlier.outcomes,
      later.outcomes,
      ({ tool, call, turn }) => `${turn} ${tool} ${call}`,
    ),
    files: joined(earlier.files, later.files, ({ path }) => path),
    notes: joined(earlier.notes, later.notes, ({ text }) => text),
    artifacts: joined(earlier.artifacts, later.artifacts, ({ artifactId }) => artifactId),
    currentTask: later.currentTask ?? earlier.currentTask,
    currentPlan: later.currentPlan.length > 0 ? later.currentPlan : earlier.currentPlan,
    prose: later.prose ?? earlier.prose,
  };
}

function joined<T>(
  earlier: readonly T[],
  later: readonly T[],
  key: (item: T) => string,
): readonly T[] {
  return [...new Map([...earlier, ...later].map((item) => [key(item), item])).values()];
}
