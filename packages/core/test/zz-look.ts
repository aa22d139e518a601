import { readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { thread } from '@bobbin/testing';
import { decisions, constraints } from '/work/main/packages/core/src/summary/said.ts';
import { openaiChat } from '@bobbin/codecs';
const which = process.argv[2];
for (const f of readdirSync('/work/shared/transcripts')) {
  const ls = gunzipSync(readFileSync('/work/shared/transcripts/' + f)).toString().split('\n').filter(Boolean).slice(0, 12);
  for (const l of ls) {
    let { messages } = JSON.parse(l); if (process.argv[3] !== 'all') messages = messages.map((m: any) => m.role === 'tool' ? { role: 'assistant', content: '' } : { role: m.role, content: typeof m.content === 'string' ? m.content : '' });
    const nodes = thread(...(openaiChat as any).decode(messages)).path();
    for (const d of which === 'c' ? constraints(nodes) : decisions(nodes)) console.log(f.slice(0, 8), (d as any).kind ?? '', 't' + d.turn, d.text.slice(0, 220));
  }
}
