// Run it in a checkout: npx node --conditions=@bobbin/source examples/opencode.ts
import assert from 'node:assert/strict';
import { bobbinPlugin, type OpenCodeMessage } from 'bobbin/opencode';

// In OpenCode this is all: save it as .opencode/plugin/bobbin.ts.
export const Bobbin: ReturnType<typeof bobbinPlugin> = bobbinPlugin({ window: 8_000 });

// What OpenCode does with it, played by a few lines: before each request it hands over the whole session.
const hooks = await Bobbin();
const session: OpenCodeMessage[] = [
  message(0, 'user', 'Never change /etc/heron.conf. Mend the tests.'),
];
let largest = 0;
for (let i = 1; i < 80; i += 2) {
  session.push(
    message(i, 'assistant', `Test ${i} is mended. ${'It expected another number. '.repeat(20)}`),
  );
  session.push(message(i + 1, 'user', `Go on with ${i + 2}.`));
  const messages = [...session];
  await hooks['experimental.chat.messages.transform']({}, { messages });
  assert.match(JSON.stringify(messages), /Never change \/etc\/heron\.conf/);
  largest = Math.max(largest, JSON.stringify(messages.map(({ parts }) => parts)).length);
}

function message(i: number, role: string, text: string): OpenCodeMessage {
  const info = { id: `msg_${i}`, sessionID: 'ses_example', role };
  const part = { type: 'text', text };
  return { info, parts: [part] };
}

assert.ok(largest < 8_000 * 4);
assert.ok(JSON.stringify(session).length > 24_000);
console.log(
  `the session has ${session.length} messages; the largest prompt had ${largest} characters`,
);
