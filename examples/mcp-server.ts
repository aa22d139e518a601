import { serveMcp } from 'bobbin/mcp';
import { createBobbin, memoryArtifacts, memoryStore, textMessage } from 'bobbin';

// A real server opens a store that an agent writes to; this one fills its own.
const [store, artifacts] = [memoryStore(), memoryArtifacts()];
const thread = await createBobbin({ store, artifacts, window: 6_000 }).thread('deploy');
await thread.append(textMessage('user', 'Deploy the service.'));
await thread.append(textMessage('assistant', 'Noted: the staging database listens on port 54329.'));
for (let i = 0; i < 40; i++) {
  await thread.append(textMessage('user', `Check host ${i}.`));
  await thread.append(
    textMessage('assistant', `Host ${i} is well. ${'All services answer. '.repeat(20)}`),
  );
  await thread.prompt();
}
await serveMcp({ store, artifacts, thread: 'deploy' });
