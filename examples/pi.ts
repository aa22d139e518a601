// Run it in a checkout: npx node --conditions=@bobbin/source examples/pi.ts
import assert from 'node:assert/strict';
import { bobbinExtension, type PiApi } from 'bobbin/pi';

// In pi ~/.pi/agent/extensions/bobbin.ts exports this as its default, and that is all.
const extension = bobbinExtension();

// What pi does with it, played by a few lines: it registers the tools and asks before it compacts.
type Handler = Parameters<PiApi['on']>[1];
const handlers: Handler[] = [];
const tools: string[] = [];
extension({
  on: (_event, handler) => void handlers.push(handler),
  registerTool: ({ name }) => void tools.push(name),
});

const said = (i: number, role: string, text: string): { id: string } => {
  const message = { role, content: [{ type: 'text', text }], timestamp: 0 };
  const [id, parentId] = [`e${i}`, i === 0 ? null : `e${i - 1}`];
  const entry = { type: 'message', id, parentId, timestamp: '2026-11-01T00:00:00Z', message };
  return entry;
};
const branchEntries = [said(0, 'user', 'Never change /etc/heron.conf. Mend the tests.')];
for (let i = 1; i < 30; i += 2) {
  const report = 'I ran it, read the code that it covers and compared both. '.repeat(10);
  branchEntries.push(
    said(i, 'assistant', `${report}Test ${i} is mended: src/t${i}.ts expected ${i * 7}.`),
  );
  branchEntries.push(said(i + 1, 'user', `Go on with ${i + 2}.`));
}
const settings = { reserveTokens: 16_384 };
const preparation = { firstKeptEntryId: 'e20', tokensBefore: 40_000, settings };
const { signal } = new AbortController();
const sessionManager = { getSessionId: () => 'example', getBranch: () => branchEntries };
const context = { sessionManager };
const answer = await handlers[0]?.({ preparation, branchEntries, signal }, context);

assert.deepEqual(tools, ['read_artifact', 'recall']);
assert.equal(answer?.compaction.firstKeptEntryId, 'e20');
assert.match(answer.compaction.summary, /Never change \/etc\/heron\.conf/);
console.log(answer.compaction.summary);
