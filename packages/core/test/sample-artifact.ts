import assert from 'node:assert/strict';
import {
  createBobbin,
  textMessage,
  type BobbinOptions,
  type CompactionEvent,
  type Message,
  type Session,
} from '@bobbin/core';
import { planArtifacts, type ArtifactId, type PromptMessage } from '@bobbin/core/internal';

export const LISTING = Array.from({ length: 900 }, (_, i) => `row ${i}: spool ${i * 7}`).join('\n');

export function round(callId: string, args: string, text: string): readonly Message[] {
  return [
    { role: 'assistant', parts: [{ kind: 'call', callId, tool: 'list', args }] },
    {
      role: 'tool',
      parts: [{ kind: 'result', callId, tool: 'list', content: [{ kind: 'text', text }] }],
    },
  ];
}

/** A thread whose first tool result was moved to an artifact. */
export async function withArtifact(
  options: Partial<BobbinOptions> = {},
): Promise<{ thread: Session; id: ArtifactId }> {
  const thread = await createBobbin({ window: 8_000, ...options }).thread('t');
  await thread.append(
    textMessage('user', 'List the spools of the warehouse.'),
    ...round('c1', '{"path":"warehouse/spools.csv"}', LISTING),
  );
  const { plan } = await thread.prompt();
  await thread.append(textMessage('assistant', 'There are 900.'));
  const [id] = planArtifacts(plan);
  assert.ok(id !== undefined, 'the listing was externalized');
  return { thread, id };
}

export function sources(messages: readonly PromptMessage[]): readonly string[] {
  return messages.map(({ source }) => source.kind);
}

export function moved(events: readonly CompactionEvent[]): number {
  return events.filter(({ kind }) => kind === 'externalized').length;
}
