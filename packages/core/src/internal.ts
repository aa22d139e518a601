// What the other packages of the workspace use. Nothing here is promised to anyone else: it may change in any release.
export { type AuditItem, inventory, ITEM_CLASSES, type ItemClass } from './audit/inventory.ts';
export { type Presence, Wording } from './audit/wording.ts';
export { errorText } from './check/error-text.ts';
export { NotInstalled, orInstall } from './check/installed.ts';
export { lastIndex, lastOf, reversed, sorted } from './check/list.ts';
export { didYouMean } from './check/nearest.ts';
export { compact } from './compact/compact.ts';
export type { CompactorConfig } from './compact/compaction.ts';
export type { Rung } from './compact/rungs/rung.ts';
export { trim } from './compact/rungs/trim.ts';
export type { ProviderReport } from './events.ts';
export { headOf, namesIn, oneLine, sentencesOf } from './message/text.ts';
export { cleanExtract, extractSummarizer, refusal } from './extract/extract-summarizer.ts';
export { extract } from './extract/extract.ts';
export { standingFacts } from './extract/facts/supersede.ts';
export {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonText,
  parseJson,
} from './message/json.ts';
export {
  type ArtifactId,
  callsOf,
  contentHash,
  type ContentPart,
  type Determinism,
  type Durability,
  hasCalls,
  hasCompaction,
  hasResults,
  isOpaque,
  isSummary,
  messageId,
  type MessageMeta,
  type Outcome,
  resultsOf,
  resultText,
  startsTurn,
  withParts,
  wholeText,
} from './message/message.ts';
export { sha256 } from './message/sha256.ts';
export { type Cut, type CutItem, findCut } from './plan/cut.ts';
export {
  durabilityOf,
  hasDrifted,
  preservedFields,
  type ToolPolicies,
  verifiedDurability,
} from './plan/tool-policy.ts';
export { breakEvenShare, type CachePrices, rewritePays } from './plan/economics.ts';
export {
  type ClearRecord,
  currentSummary,
  type DropRecord,
  emptyPlan,
  holdsReasoning,
  type ExternalizeRecord,
  PLAN_FORMAT,
  planArtifacts,
  type PlanRecord,
  type SummarizeRecord,
} from './plan/plan.ts';
export { type Action, actions, normalize } from './plan/actions.ts';
export {
  EMPTY_SUMMARY,
  type Fact,
  type FileRecord,
  type Item,
  type ToolOutcome,
} from './plan/summary.ts';
export { firedBecause, type TriggerInput } from './plan/trigger.ts';
export { type Thrift, THRIFT, type TrimLimits } from './plan/trim-figures.ts';
export type {
  Appended,
  AppendOptions,
  ArtifactMetadata,
  CaptureDeterminism,
  Erasure,
  ErasureOptions,
  Found,
  FoundInThread,
  MessageVector,
  RecallIndex,
  Requester,
  StoredEvent,
  StoredPlan,
  StoredWindow,
  ThreadEntry,
  ThreadKey,
  ToolCall,
  ToolCodec,
} from './ports.ts';
export { claudeCode } from './presets/claude-code.ts';
export { codex } from './presets/codex.ts';
export { ladder } from './presets/ladder.ts';
export { opencode } from './presets/opencode.ts';
export { pi, PI_DEFAULTS } from './presets/pi.ts';
export { planEngine } from './presets/plan-engine.ts';
export { type PresetName, PRESETS } from './presets/presets.ts';
export { recursiveSummary } from './presets/recursive-summary.ts';
export { singlePrompt, singlePromptBeside } from './presets/single-prompt.ts';
export { accountOf } from './summary/account.ts';
export { step } from './presets/step.ts';
export { timeline } from './presets/timeline.ts';
export { slidingWindow, tokenWindow, turnWindow } from './presets/windows.ts';
export {
  type Posting,
  rankTexts,
  type Scored,
  tellingWords,
  type TextSizes,
} from './recall/lexical-index.ts';
export { pageOf, type PageRequest } from './recall/page.ts';
export { qualityOf } from './recall/quality.ts';
export {
  type Memory,
  type MemoryTool,
  MEMORY_TOOLS,
  offersMemory,
  readArtifactTool,
  recallTool,
} from './recall/memory-tools.ts';
export { READ_ARTIFACT_TOOL, readArtifact } from './recall/read-artifact.ts';
export { answerRecall, recall, RECALL_TOOL, type Recalled } from './recall/recall.ts';
export { nearestVectors } from './recall/similarity.ts';
export { queryWords, searchText, wordsOf } from './recall/words.ts';
export { type CacheLimits, DEFAULT_CACHE_LIMITS } from './render/cache-points.ts';
export { clearedPlaceholder, inPlace } from './render/record.ts';
export type { PromptMessage, Source } from './render/prompt.ts';
export { render, PromptBuilder } from './render/builder.ts';
export { ALTERNATING_RULES, ANTHROPIC_RULES, OPENAI_RULES, STRICT_RULES } from './render/rules.ts';
export { sessionConfig } from './session/config/config.ts';
export { counterLoader, withVisibleWarnings } from './session/config/host.ts';
export type { SessionConfig } from './session/config/session-config.ts';
export { checkToolPolicy } from './session/config/options.ts';
export { type ContextLimit, isContextLimit } from './session/context-limit.ts';
export { assertSensitivity, hasExpired, mayRead } from './session/memory/memory-artifacts.ts';
export {
  assertNames,
  noParent,
  outsideParents,
  ownNodes,
  searchThreads,
  StoredThread,
} from './session/memory/stored-thread.ts';
export type { Conversation, MarkCachePoints } from './session/recognise/conversation.ts';
export { type Controls, controlsOf } from './session/recognise/controls.ts';
export { Conversations, type HostRequest } from './session/recognise/conversations.ts';
export type { StoredPlace } from './session/recognise/options.ts';
export { sendFitting } from './session/recognise/sending.ts';
export { fitSummaryText, summaryText } from './summary/account-render.ts';
export { cleanAccount } from './summary/account.ts';
export {
  memorySummaryCache,
  summariesBeside,
  summaryKey,
  type SummaryCache,
} from './summary/cache.ts';
export { chunks, QUOTE } from './summary/format.ts';
export { type Redact, redactSummary } from './summary/redact.ts';
export { fitSummary, renderSummary, SUMMARY_RENDER_VERSION } from './summary/render.ts';
export { type Node, type Span, spanOf, Thread } from './thread/thread.ts';
export { unitStarts } from './thread/units.ts';
export {
  budget,
  BUDGET_DEFAULTS,
  messageLimit,
  messagesOnly,
  softLimit,
  STEP_DEFAULTS,
  stepThreshold,
} from './tokens/budget.ts';
export { calibrate, estimator, scaled, startCalibration } from './tokens/calibration.ts';
export {
  chars4,
  estimateMessagesTokens,
  estimateTokens,
  type MediaProvider,
  mediaTokens,
} from './tokens/counter.ts';
export {
  type CacheFacts,
  contextLimit,
  isKnownModel,
  modelFacts,
  modelMeant,
  type ModelTable,
} from './tokens/models.ts';
export { RequestSize, toolAsSent } from './tokens/request-size.ts';
export { contextSize, type ContextSize, usageTokens, validUsage } from './tokens/usage.ts';
export { Evidence } from './verify/evidence.ts';
export { pathsIn } from './verify/paths.ts';
export { nameOf } from './summary/file-texts.ts';
export type { Correction, SummaryReport } from './verify/report.ts';
export { skipIfNotShorter } from './verify/skip-model.ts';
export { trustedSummarizer } from './verify/trusted.ts';
export { type Verified, verify } from './verify/verify.ts';
