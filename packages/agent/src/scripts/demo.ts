import type { Script } from '../model/scripted-model.ts';

/** A first look without a key: lists the project's files, reads one, and says what it saw. */
export const demoScript: Script = ({ messages, tools }) => {
  const last = messages.at(-1);
  if (last === undefined || tools.length === 0)
    return { text: 'A demonstration; nothing of note happened.' };
  if (last.role === 'user') {
    return {
      text: 'I am a **script**, not a model: set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, or choose `--model provider/id`, to work with one. Let me look around to show how a turn goes.',
      calls: [{ tool: 'glob', args: { pattern: '**/*.md' } }],
    };
  }
  const called = messages.findLast(({ role }) => role === 'assistant')?.calls[0];
  const [first = ''] = last.text.split('\n');
  if (called?.tool === 'glob' && first.endsWith('.md'))
    return {
      text: `I read \`${first}\`:`,
      calls: [{ tool: 'read', args: { path: first, limit: 8 } }],
    };
  return {
    text: 'That was a turn: what I said, what I called, what came back. `/context` shows what the window holds, `/help` all commands.',
  };
};
