// What the summaries of recorded conversations lost, by class, and what Bobbin loses at the same size without a model. It
// audits what models really wrote: the recorded compactions, and the session files as their tools wrote them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { openaiChat } from '@bobbin/codecs';
import {
  auditSession,
  totalsOf,
  type AuditedItem,
  type SessionAudit,
} from '../packages/cli/src/audit/session-audit.ts';
import { readConversation, type Conversation } from '../packages/cli/src/input/conversation.ts';
import { recordedIn, type Recorded } from '../scripts/learn/recorded.ts';

const SHARED = fileURLToPath(new URL('../../shared/', import.meta.url));

if (existsSync(SHARED)) {
  const recorded = [...recordedIn(`${SHARED}transcripts`)].filter(({ compactions }) =>
    compactions.some(({ summary }) => summary !== ''),
  );
  await print('The recorded compactions', recorded.map(conversationOf));
  const files = readdirSync(`${SHARED}session-files`).map((name) => {
    const text = gunzipSync(readFileSync(`${SHARED}session-files/${name}`)).toString('utf8');
    return readConversation(text, name, 'auto');
  });
  await print('The session files', files);
} else console.log('The recorded conversations are not here.');

/** A recorded conversation knows its summaries, not what was kept beside them. */
function conversationOf({ messages, compactions }: Recorded): Conversation {
  return {
    format: 'recorded',
    codec: openaiChat,
    messages,
    wireMessages: messages.length,
    compactions: compactions.map((compaction) => ({ ...compaction, firstKept: compaction.after })),
    text: () => '',
  };
}

async function print(title: string, conversations: readonly Conversation[]): Promise<void> {
  const audits: SessionAudit[] = [];
  for (const conversation of conversations) audits.push(await auditSession(conversation));
  const compactions = audits
    .flatMap((audit) => audit.compactions)
    .filter((one) => one.kind === 'audited');
  const given = compactions.reduce((sum, { tokensGiven }) => sum + tokensGiven, 0);
  const own = compactions.reduce((sum, { bobbin }) => sum + bobbin.tokens, 0);
  const fitting = compactions.filter(({ bobbin }) => bobbin.fits).length;
  console.log(`\n${title}: ${compactions.length} compactions in ${conversations.length} sessions`);
  console.log(
    `tokens after a compaction, on average: ${mean(given, compactions)} by the model, ${mean(own, compactions)} by Bobbin (${fitting} fit)\n`,
  );
  table(compactions.flatMap(({ items }) => items));
}

function mean(sum: number, of: readonly unknown[]): number {
  return Math.round(sum / Math.max(1, of.length));
}

function table(items: readonly AuditedItem[]): void {
  console.log(
    '| class | items | summary: exact | alike | lost | needed later | Bobbin: exact | alike | lost | needed later |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|---|');
  for (const { class: name, said, agent, bobbin, agentNeeded, bobbinNeeded } of totalsOf(items)) {
    const share = (count: number): string => `${count} (${Math.round((100 * count) / said)} %)`;
    const cells = [
      name,
      said,
      agent.exact,
      agent.alike,
      share(agent.absent),
      agentNeeded,
      bobbin.exact,
      bobbin.alike,
      share(bobbin.absent),
      bobbinNeeded,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
