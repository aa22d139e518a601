import { test } from 'node:test';
import { MASTRA } from './mastra-host.ts';
import { plays } from './scenario.ts';

test('Mastra: 100 requests, with a pin, an undo, a refusal and recall', (t) =>
  plays(t, MASTRA, 100, 'offered'));

test('Mastra: no prompt names a tool that is not offered', (t) =>
  plays(t, MASTRA, 60, 'not offered'));
