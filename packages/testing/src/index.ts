export {
  assistant,
  call,
  file,
  image,
  opaque,
  reasoning,
  result,
  resultPart,
  round,
  system,
  thread,
  user,
  withMeta,
  type Says,
} from './builders.ts';
export { cpuMs } from './cpu-time.ts';
export { randomConversation, type ConversationShape } from './generate.ts';
export {
  breaches,
  expectValid,
  LawError,
  type Breach,
  type LawContext,
  type SentPrompt,
} from './laws.ts';
export { messageLine, promptLines } from './prompt-lines.ts';
export {
  providerServer,
  type DialectName,
  type ProviderRequest,
  type ProviderServer,
  type ProviderStep,
} from './provider-server/provider-server.ts';
export {
  randomBudget,
  randomCase,
  randomPolicy,
  randomTrigger,
  type RandomCase,
} from './random-case.ts';
export { randomText } from './random-text.ts';
export { seededRandom, type Random } from './random.ts';
export { withoutReminders } from './reminders.ts';
export {
  playOutcome,
  scriptedSummarizer,
  type ScriptedSummarizer,
  type SummarizerOutcome,
} from './scripted-summarizer.ts';
export { WatchedThread } from './watched-thread.ts';
