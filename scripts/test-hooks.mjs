// Loaded before every test file. Node's runner follows each promise, to know which test an uncaught error belongs to; in
// tests that stream that takes up to half of their time. So it follows everything else: such an error still fails its
// file, and is reported with it, though no longer as a failure of the test that it comes from.
import hooks from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { createHook } = hooks;
  hooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false });
  // The runner takes its own reference to what creates hooks.
  await import('node:test');
  hooks.createHook = createHook;
}
