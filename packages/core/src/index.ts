export type { Policy } from './compact/policy.ts';
export { clear } from './compact/rungs/clear.ts';
export { drop } from './compact/rungs/drop.ts';
export { externalize } from './compact/rungs/externalize.ts';
export { squeeze } from './compact/rungs/squeeze.ts';
export { summarize } from './compact/rungs/summarize.ts';
export type { CompactionEvent } from './events.ts';
export {
  type CallPart,
  type FilePart,
  type ImagePart,
  type Message,
  type MessageId,
  type OpaquePart,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type Role,
  textMessage,
  textOf,
  type TextPart,
  type ThreadId,
  type Usage,
} from './message/message.ts';
export type { CutRule } from './plan/cut.ts';
export { type ToolPolicy } from './plan/tool-policy.ts';
export { DEFAULT_STYLE, type Plan, type RenderStyle } from './plan/plan.ts';
export type { Summary } from './plan/summary.ts';
export { allOf, anyOf, tokenCount, type Trigger, turnCount, when } from './plan/trigger.ts';
export type {
  ArtifactStore,
  Clock,
  Codec,
  Embedder,
  Store,
  Summarizer,
  SummaryRequest,
} from './ports.ts';
export { presets } from './presets/presets.ts';
export { embedCompacted } from './recall/recall.ts';
export type { Prompt } from './render/prompt.ts';
export type { ProviderRules } from './render/rules.ts';
export { type Bobbin, type BobbinOptions, createBobbin } from './session/bobbin.ts';
export { contextLimitOf } from './session/context-limit.ts';
export type { Fitted } from './session/fitted.ts';
export { memoryArtifacts } from './session/memory/memory-artifacts.ts';
export { memoryStore } from './session/memory/memory-store.ts';
export type { CompactOptions, Refusal } from './session/config/session-config.ts';
export { RefusedTwice } from './session/recognise/sending.ts';
export { Session } from './session/session.ts';
export { formatMessage } from './summary/format.ts';
export { proseSummary } from './summary/prose-summary.ts';
export { redactSecrets } from './summary/redact.ts';
export type { Budget } from './tokens/budget.ts';
export { type Counter, counterOf } from './tokens/counter.ts';
