import { test } from 'node:test';
import { isSoak, volume } from '@bobbin/testing/volume';
import { AI_SDK } from './ai-sdk-host.ts';
import { LANGCHAIN, LANGGRAPH } from './langchain-hosts.ts';
import { OPENAI_AGENTS } from './openai-agents-host.ts';
import { ANTHROPIC, BEDROCK, GEMINI, OPENAI } from './plain-hosts.ts';
import { plays } from './scenario.ts';

const HOSTS = [
  OPENAI,
  ANTHROPIC,
  GEMINI,
  BEDROCK,
  LANGCHAIN,
  LANGGRAPH,
  AI_SDK,
  OPENAI_AGENTS,
] as const;

const REQUESTS = volume(50, 100);

for (const host of HOSTS) {
  test(`${host.name}: ${REQUESTS} requests, with a pin, an undo, a refusal and recall`, (t) =>
    plays(t, host, REQUESTS, 'offered'));
}

for (const host of isSoak() ? HOSTS : [OPENAI, LANGCHAIN, AI_SDK])
  test(`${host.name}: no prompt names a tool that is not offered`, (t) =>
    plays(t, host, volume(40, 60), 'not offered'));
