import { createHash } from 'node:crypto';
import { textMessage, type Message } from '@bobbin/core';
import { eachFeatures } from '../../packages/core/src/extract/anchors/rank.ts';
import { AnchorStatistics } from '../../packages/core/src/extract/anchors/statistics.ts';

const CONVERSATION: readonly Message[] = [
  textMessage('user', 'Rename readConfig in src/config/load.ts and keep the port at 48213.'),
  {
    role: 'assistant',
    parts: [
      { kind: 'text', text: 'I look at readConfig first.' },
      { kind: 'call', callId: 'a', tool: 'read', args: '{"path":"src/config/load.ts"}' },
    ],
  },
  {
    role: 'tool',
    parts: [
      {
        kind: 'result',
        callId: 'a',
        content: [
          {
            kind: 'text',
            text: 'export function readConfig(file) {\n  return parse(read_text(file)); // 9f8e7d6c5b\n}',
          },
        ],
      },
    ],
  },
  textMessage('assistant', 'readConfig is called loadConfig now; see commit 4be91c02d7.'),
  textMessage('user', 'Does loadConfig still use read_text?'),
];

/** A digest of the features of every anchor in a made-up conversation: it changes when the features do. */
export function digestOfFeatures(): string {
  const statistics = new AnchorStatistics();
  let turn = 0;
  for (const [index, message] of CONVERSATION.entries()) {
    if (message.role === 'user') turn++;
    statistics.add({ message, index, turn });
  }
  const lines: string[] = [];
  eachFeatures(statistics, (id, features) => {
    const values = Array.from(features, (value) => value.toFixed(6));
    lines.push(`${statistics.anchors[id]?.key ?? ''} ${values.join(' ')}`);
  });
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);
}
