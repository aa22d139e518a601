import type { Plan } from '@bobbin/core';
import {
  currentSummary,
  type MemoryTool,
  planArtifacts,
  type PlanRecord,
  type StoredWindow,
  type ThreadEntry,
} from '@bobbin/core/internal';

const MOST_THREADS = 50;

/** `compact_status`: what of a thread is shown and what records replace; without a thread, the list of threads. */
export const compactStatusTool: MemoryTool = {
  definition: {
    name: 'compact_status',
    description:
      'Tells how much of this conversation was compacted: messages kept and summarised, artifacts that can be read ' +
      'with read_artifact, tokens before and after.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  async answer({ store }, key) {
    const window = await store.window(key);
    if (window !== undefined) return describeThread(key.thread, window);
    const threads = await store.threads(key.tenant, MOST_THREADS);
    return [
      `There is no thread ${JSON.stringify(key.thread)}.`,
      ...threads.map(describeEntry),
    ].join('\n');
  },
};

function describeEntry({ thread, length, version }: ThreadEntry): string {
  return `- ${thread}: ${length} messages, ${version} ${version === 1 ? 'plan' : 'plans'}`;
}

function describeThread(thread: string, { tail, current }: StoredWindow): string {
  const length = (tail.at(-1)?.index ?? -1) + 1;
  if (current === undefined)
    return `${thread}: ${length} messages, all of them shown. Nothing was compacted.`;
  const { plan, version } = current;
  const artifacts = planArtifacts(plan);
  return [
    `${thread}: ${Math.max(length, plan.threadVersion)} messages; plan ${version} (${plan.policy}) of ${new Date(plan.createdAt).toISOString()}`,
    `tokens of the prompt when it was made: ${plan.tokensBefore} before, ${plan.tokensAfter} after`,
    ...describeRecords(plan),
    artifacts.length === 0 ? 'no artifacts' : `artifacts: ${artifacts.join(', ')}`,
    ...plan.warnings.map((warning) => `warning: ${warning}`),
  ].join('\n');
}

const KINDS: readonly (readonly [PlanRecord['kind'], string])[] = [
  ['externalize', 'moved to artifacts'],
  ['clear', 'cleared'],
  ['drop', 'dropped'],
];

function describeRecords(plan: Plan): readonly string[] {
  const summary = currentSummary(plan);
  const lines = KINDS.flatMap(([kind, words]) => {
    const count = plan.records.filter((record) => record.kind === kind).length;
    return count === 0 ? [] : [`${words}: ${count}`];
  });
  return summary === undefined
    ? lines
    : [
        `replaced by a summary (round ${summary.summary.round}): ${summary.messages} messages`,
        ...lines,
      ];
}
