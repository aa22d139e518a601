import type { JsonObject } from '@bobbin/core/internal';
import { textIn } from './protocol.ts';

/**
 * How clients ask a model to summarise their conversation, as seen in November 2026: Claude Code, Codex, OpenCode, pi. Only
 * the beginning of the last message counts, so that nobody who quotes one of these is taken for a client.
 */
const REQUESTS: readonly RegExp[] = [
  /^(?:critical: respond with text only[^\n]*\n+)?[^\n]{0,200}your task is to create a detailed summary of (?:the|this|our) conversation/i,
  /^you are performing a context checkpoint compaction/i,
  /^(?:provide|create) a (?:detailed )?(?:prompt|summary) for continuing our conversation/i,
  /^summari[sz]e the (?:task|conversation) (?:conversation )?so far/i,
  /^(?:the messages above are a conversation to summarize|create a structured context checkpoint summary)/i,
];

/** True if a client asks for a summary of the conversation by itself: compacting that request would spoil it. */
export function asksForSummary(messages: readonly JsonObject[]): boolean {
  const last = messages.at(-1);
  if (last === undefined || (last['role'] ?? 'user') !== 'user') return false;
  const text = textIn(last['content']).trimStart();
  return REQUESTS.some((request) => request.test(text));
}
