import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { textOf } from '@bobbin/core';
import { callsOf, resultsOf, resultText, type Node } from '@bobbin/core/internal';
import type { SlashCommand } from './command.ts';

/** Writes the whole conversation as Markdown, also what was compacted. The session file is the other form of it. */
export const exportCommand: SlashCommand = {
  name: 'export',
  operands: '[FILE]',
  summary: 'Write the whole conversation to a Markdown file',
  when: 'any',
  async run(agent, operands) {
    const { session } = agent;
    const path = resolve(
      agent.options.folders.project,
      operands === '' ? `${session.id}.md` : operands,
    );
    const nodes = await session.path();
    await writeFile(path, `# Session ${session.id}\n\n${nodes.map(section).join('\n\n')}\n`);
    return {
      text: `Wrote ${nodes.length} messages to ${path}.`,
      data: { path, messages: nodes.length, file: session.file },
    };
  },
};

function section({ message }: Node): string {
  const said = textOf(message);
  const calls = callsOf(message).map(({ tool, args }) => `**${tool}**\n\n${fenced(args)}`);
  const results = resultsOf(message).map((result) => fenced(resultText(result)));
  return [`## ${message.role}`, ...(said === '' ? [] : [said]), ...calls, ...results].join('\n\n');
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
