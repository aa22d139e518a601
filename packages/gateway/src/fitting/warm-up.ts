import { openaiChat, type ChatMessage } from '@bobbin/codecs';
import { createBobbin } from '@bobbin/core';

/** Rounds whose results together are several times the window. */
const [ROUNDS, RESULT_LINES, WINDOW_TOKENS] = [24, 60, 6_000];

/**
 * Compacts a made-up conversation once. The first compaction of a process compiles the code that it needs, and would take
 * longer than the gateway may work on a request.
 */
export async function warmUp(): Promise<void> {
  const bobbin = createBobbin({
    codec: openaiChat,
    window: WINDOW_TOKENS,
    onEvent: () => undefined,
  });
  await bobbin.fit(conversation());
}

function conversation(): ChatMessage[] {
  const rounds = Array.from({ length: ROUNDS }, (_, i): ChatMessage[] => {
    const args = JSON.stringify({ path: `/app/part-${i}.ts` });
    const lines = Array.from({ length: RESULT_LINES }, (__, k) => `const value_${i}_${k} = ${k};`);
    return [
      { role: 'user', content: `Look at part ${i}, and keep value_${i}_3.` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `call_${i}`, type: 'function', function: { name: 'read', arguments: args } },
        ],
      },
      { role: 'tool', tool_call_id: `call_${i}`, content: lines.join('\n') },
      { role: 'assistant', content: `Part ${i} has ${RESULT_LINES} values.` },
    ];
  });
  return [...rounds.flat(), { role: 'user', content: 'Go on.' }];
}
