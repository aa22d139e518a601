import type { ChatMessage } from '@bobbin/codecs';
import { chars4 } from '@bobbin/core/internal';
import { openaiChat } from '@bobbin/codecs';

/** A conversation of a coding agent: a task with a rule, then rounds whose results are long. */
export function conversation(rounds: number): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: 'Rename the parser in src/parser.ts. Never touch the public API.' },
  ];
  for (let i = 0; i < rounds; i++) {
    messages.push(
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: `call_${i}`,
            type: 'function',
            function: { name: 'read_file', arguments: `{"path":"src/part-${i}.ts"}` },
          },
        ],
      },
      {
        role: 'tool',
        tool_call_id: `call_${i}`,
        content: `line ${i}: parse() — "née" 🧵\n`.repeat(60),
      },
      { role: 'assistant', content: `Part ${i} calls parse() twice.` },
    );
    if (i % 4 === 3) messages.push({ role: 'user', content: `Go on with part ${i + 1}.` });
  }
  return messages;
}

/** What messages cost by the heuristic that users compare with. */
export function chars4Tokens(messages: readonly ChatMessage[]): number {
  const counter = chars4();
  return openaiChat.decode(messages).reduce((sum, message) => sum + counter.message(message), 0);
}
