import { openaiChat, type ChatMessage } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';
import { modelSummarizer } from '@bobbin/models';
import { MockLanguageModelV4 } from 'ai/test';

/** Does what comes before the call, and returns the call, which gives the messages to send. */
export type Flow = () => Promise<() => Promise<readonly ChatMessage[]>>;

const OPTIONS = { codec: openaiChat, model: 'gpt-5', window: 16_000 };
const THOUGHTS =
  'The parser reads one line at a time, so the error must come from its caller. '.repeat(20);
const LONG = history(60, 100);

export const FLOWS: ReadonlyMap<string, Flow> = new Map([
  ['fit', () => fitting(history(3, 1))],
  ['fit-compacts', () => fitting(LONG)],
  ['compact', compacting],
]);

async function compacting(): ReturnType<Flow> {
  const summarizer = modelSummarizer({ model: scriptedModel() });
  const thread = await createBobbin({ ...OPTIONS, summarizer }).thread('walk');
  await thread.append(...LONG);
  return async () => (await thread.compact()).messages;
}

async function fitting(messages: readonly ChatMessage[]): ReturnType<Flow> {
  const bobbin = createBobbin(OPTIONS);
  return async () => (await bobbin.fit(messages)).messages;
}

/** A request, and rounds of one call and its result: the agent's own words alone exceed the window. */
function history(rounds: number, lines: number): readonly ChatMessage[] {
  const content = 'Fix src/parser.ts. Never change the public API. The failing test reports E4711.';
  const work = Array.from({ length: rounds }, (_, i) => round(i, lines)).flat();
  return [{ role: 'user', content }, ...work];
}

function round(i: number, lines: number): readonly ChatMessage[] {
  const [id, file] = [`call-${i}`, `src/module-${i}.ts`];
  const run = { name: 'bash', arguments: JSON.stringify({ command: `npm test -- ${file}` }) };
  const read = { name: 'read', arguments: JSON.stringify({ path: file }) };
  const call = { id, type: 'function', function: i % 3 === 0 ? run : read } as const;
  const content = `${file}:12: Error E${4_000 + i}\n${`the parser reads line ${i}\n`.repeat(lines)}`;
  return [
    {
      role: 'assistant',
      content: `I look at ${file} next.${lines > 1 ? THOUGHTS : ''}`,
      tool_calls: [call],
    },
    { role: 'tool', tool_call_id: id, content },
  ];
}

function scriptedModel(): MockLanguageModelV4 {
  const answer = {
    account: 'The parser in src/parser.ts is being fixed; its test reports E4711.',
    facts: [{ kind: 'constraint', text: 'Never change the public API.', by: 'user', turn: 1 }],
    decisions: [],
    items: [{ text: 'Run the tests again', state: 'open', priority: 'high', context: null }],
    outcomes: [],
    files: [],
    currentTask: 'Fixing the parser',
    currentPlan: [],
  };
  const inputTokens = { total: 9_000, noCache: 9_000, cacheRead: 0, cacheWrite: 0 };
  const outputTokens = { total: 150, text: 150, reasoning: 0 };
  return new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: 'text', text: JSON.stringify(answer) }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: { inputTokens, outputTokens },
      warnings: [],
    },
  });
}
