import type { MessageId, ThreadId } from '@bobbin/core';
import type { ArtifactId } from '@bobbin/core/internal';
import { liveEvents } from './live-events.ts';
import { ApiError, json, neededText, wholeNumber, type Parameter, type Route } from './route.ts';
import type { ThreadAccess } from './thread-access.ts';

const MOST_THREADS = 1_000;
const THREAD = '/tenants/{tenant}/threads/{thread}';

const HEAD: Readonly<Record<string, Parameter>> = {
  head: { type: 'string', about: 'The message that the path ends with. Default: the newest.' },
};

/** Every route of the API. The description is made of the same list. */
export function apiRoutes(threads: ThreadAccess): readonly Route[] {
  const { store, artifacts, ledger, observer, closing } = threads.options;
  return [
    {
      method: 'get',
      path: '/ledger',
      name: 'sumLedger',
      about: 'What requests came to, and what they would have cost without compaction.',
      query: {
        tenant: { type: 'string', about: 'Only of this tenant.' },
        thread: { type: 'string', about: 'Only of this thread.' },
        since: { type: 'integer', about: 'Only from this time on, in milliseconds.' },
      },
      reply: 'LedgerSum',
      async answer({ query }) {
        const { tenant, thread } = query;
        const since = wholeNumber(query, 'since');
        return json(await ledger.sum(tenant, thread as ThreadId | undefined, since));
      },
    },
    {
      method: 'get',
      path: '/events',
      name: 'watchEvents',
      about: 'What happens from now on in this process, as server-sent events.',
      query: {
        tenant: { type: 'string', about: 'Only of this tenant.' },
        thread: { type: 'string', about: 'Only of this thread.' },
      },
      reply: 'text/event-stream',
      async answer({ query, signal }) {
        const { tenant, thread } = query;
        const events = liveEvents(
          observer,
          (news) =>
            (tenant === undefined || news.tenant === tenant) &&
            (thread === undefined || news.event.thread === thread),
          AbortSignal.any([signal, closing]),
        );
        return { kind: 'events', events };
      },
    },
    {
      method: 'get',
      path: '/tenants',
      name: 'listTenants',
      about: 'The names of all tenants.',
      reply: 'Names',
      answer: async () => json(await store.tenants()),
    },
    {
      method: 'get',
      path: '/tenants/{tenant}/threads',
      name: 'listThreads',
      about: 'The threads of a tenant by name.',
      query: {
        after: { type: 'string', about: 'Only threads after this name.' },
        most: { type: 'integer', about: `At most so many, and at most ${MOST_THREADS}.` },
      },
      reply: 'Threads',
      async answer({ path, query }) {
        const most = wholeNumber(query, 'most', MOST_THREADS) ?? 100;
        const after = query['after'] as ThreadId | undefined;
        return json(await store.threads(path['tenant'] ?? '', most, after));
      },
    },
    {
      method: 'get',
      path: THREAD,
      name: 'getThread',
      about: 'A thread: the last message of each fork, the plan in force, its size and its cost.',
      query: HEAD,
      reply: 'Thread',
      async answer(call) {
        const session = await threads.session(call);
        const { key, head, length, version, pressure } = session;
        const heads = await store.heads(key);
        const cost = await ledger.sum(key.tenant, key.thread);
        return json({ ...key, head, heads, length, version, pressure, cost });
      },
    },
    {
      method: 'get',
      path: `${THREAD}/messages`,
      name: 'listMessages',
      about: 'The messages on the path to a head, in the order in which they were said.',
      query: { ...HEAD, from: { type: 'integer', about: 'Only from this index on.' } },
      reply: 'Nodes',
      async answer(call) {
        const from = wholeNumber(call.query, 'from');
        return json(await store.path(threads.keyOf(call), await threads.headOf(call), from));
      },
    },
    {
      method: 'get',
      path: `${THREAD}/requests`,
      name: 'listRequests',
      about: 'What each request of a thread cost, oldest first, with the answer to it.',
      query: { after: { type: 'integer', about: 'Only after this time, in milliseconds.' } },
      reply: 'LedgerEntries',
      async answer(call) {
        const { tenant, thread } = threads.keyOf(call);
        return json(await ledger.entries(tenant, thread, wholeNumber(call.query, 'after')));
      },
    },
    {
      method: 'get',
      path: `${THREAD}/events`,
      name: 'listEvents',
      about: 'The events of a thread that were stored.',
      query: { after: { type: 'integer', about: 'Only after this number.' } },
      reply: 'Events',
      async answer(call) {
        return json(await store.events(threads.keyOf(call), wholeNumber(call.query, 'after')));
      },
    },
    {
      method: 'get',
      path: `${THREAD}/plans/{version}`,
      name: 'getPlan',
      about: 'A plan of a thread by its version, or the one in force as `current`.',
      query: HEAD,
      reply: 'Plan',
      answer: async (call) => json(await threads.planOf(call)),
    },
    {
      method: 'get',
      path: `${THREAD}/prompt`,
      name: 'getPrompt',
      about: 'The prompt as a version of the plan shows it; 0 shows the thread without any plan.',
      query: {
        ...HEAD,
        version: { type: 'integer', about: 'Default: the version in force.' },
      },
      reply: 'Prompt',
      async answer(call) {
        const session = await threads.session(call);
        const version = wholeNumber(call.query, 'version') ?? session.version;
        return json(await session.promptAt(version));
      },
    },
    {
      method: 'get',
      path: '/tenants/{tenant}/artifacts/{artifact}',
      name: 'getArtifact',
      about: 'The content of an artifact, as it was moved out of a prompt.',
      reply: 'application/octet-stream',
      async answer({ path }) {
        const id = path['artifact'] as ArtifactId;
        const requester = { tenant: path['tenant'] ?? '' };
        const metadata = await artifacts.metadata(id, requester);
        const bytes = await artifacts.bytes(id, requester);
        if (metadata === undefined || bytes === undefined)
          throw new ApiError(404, `there is no artifact ${id}`);
        return { kind: 'bytes', bytes, mediaType: metadata.mediaType };
      },
    },
    {
      method: 'post',
      path: `${THREAD}/undo`,
      name: 'undoCompaction',
      about: 'Undoes the last compaction. `done` is false if there is none.',
      query: HEAD,
      reply: 'Done',
      answer: async (call) => json({ done: await (await threads.session(call)).undo() }),
    },
    {
      method: 'post',
      path: `${THREAD}/pin`,
      name: 'pinMessage',
      about: 'Keeps a message whole from now on; one that was compacted comes back.',
      query: HEAD,
      body: { message: { type: 'string', about: 'The id of the message.', required: true } },
      reply: 'Done',
      async answer(call) {
        const id = neededText(call.body, 'message') as MessageId;
        await (await threads.session(call)).pin(id);
        return json({ done: true });
      },
    },
    {
      method: 'post',
      path: `${THREAD}/unpin`,
      name: 'unpinMessage',
      about: 'Undoes a pin: the next compaction may change the message.',
      query: HEAD,
      body: { message: { type: 'string', about: 'The id of the message.', required: true } },
      reply: 'Done',
      async answer(call) {
        const id = neededText(call.body, 'message') as MessageId;
        await (await threads.session(call)).unpin(id);
        return json({ done: true });
      },
    },
    {
      method: 'post',
      path: `${THREAD}/compact`,
      name: 'compactNow',
      about: 'Compacts at any pressure. The next request of the thread goes out so.',
      query: HEAD,
      body: { instructions: { type: 'string', about: 'What the summary should look at.' } },
      reply: 'Compacted',
      async answer(call) {
        const { instructions } = call.body;
        const session = await threads.session(call);
        const given = typeof instructions === 'string' && instructions !== '';
        const fitted = await session.compact(given ? { instructions } : {});
        const { version, compacted, fits, prompt } = fitted;
        return json({ version, compacted, fits, tokens: prompt.tokens });
      },
    },
  ];
}
