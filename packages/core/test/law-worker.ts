import { parentPort, workerData } from 'node:worker_threads';
import { runShare, type Share } from './law-runner.ts';

const report = await runShare(workerData as Share);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's port has no origin
parentPort?.postMessage(report);
