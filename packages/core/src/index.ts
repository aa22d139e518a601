export { createBobbin, type Bobbin, type BobbinOptions } from './door/bobbin.ts';
export { contextLimitOf, isContextLimit, type ContextLimit } from './door/context-limit.ts';
export { assertSensitivity, mayRead, memoryArtifacts } from './door/memory-artifacts.ts';
export { artifactId } from './thread/artifact.ts';
export { memoryStore } from './door/memory-store.ts';
export { didYouMean } from './plan/nearest.ts';
export { checkToolPolicy } from './door/options.ts';
export { settingOf } from './door/setting.ts';
export { noParent, outsideParents, StoredThread } from './door/stored-thread.ts';
export { assertKey, assertName, keyNamed } from './door/thread-name.ts';
export { ThreadHandle } from './door/thread-handle.ts';
export type { CompactionHooks, CompactOptions, Refusal, Tuning } from './door/handle-options.ts';
export type { Fitted } from './door/fitted.ts';
export {
  compact,
  decide,
  type Compaction,
  type Decision,
  type Job,
  type Setting,
} from './compactor.ts';
export type { CompactionEvent } from './events.ts';
export type {
  ArtifactMetadata,
  ArtifactStore,
  CaptureDeterminism,
  Clock,
  Codec,
  Embedder,
  Found,
  MessageVector,
  RecallIndex,
  Requester,
  Sensitivity,
  Store,
  StoredEvent,
  StoredPlan,
  StoredWindow,
  Summarizer,
  SummaryRequest,
  ThreadEntry,
  ThreadKey,
} from './ports.ts';
export { clear } from './plan/clear.ts';
export { findCut, type Cut, type CutItem, type CutLimits, type CutRule } from './plan/cut.ts';
export { Draft, type Entry } from './plan/draft.ts';
export { digestOf, type Digest, type DigestPath, type ToolOutput } from './plan/digest.ts';
export { drop } from './plan/drop.ts';
export {
  durabilityOf,
  hasDrifted,
  preservedFields,
  verifiedDurability,
  type ToolPolicies,
  type ToolPolicy,
} from './plan/durability.ts';
export {
  breakEvenShare,
  rewritePays,
  type CachePrices,
  type RewriteCase,
} from './plan/economics.ts';
export { excerpt } from './plan/excerpt.ts';
export { externalize } from './plan/externalize.ts';
export { expired } from './plan/hide.ts';
export { LAST_RESORT } from './plan/ladder.ts';
export {
  currentSummary,
  DEFAULT_STYLE,
  emptyPlan,
  PLAN_FORMAT,
  planArtifacts,
  type Carried,
  type ClearRecord,
  type DropIndex,
  type DropRecord,
  type ExternalizeRecord,
  type Hide,
  type Plan,
  type PlanRecord,
  type RenderStyle,
  type SummarizeRecord,
} from './plan/plan.ts';
export type { Policy } from './plan/policy.ts';
export { actions, normalize, type Action } from './plan/precedence.ts';
export { clearedPlaceholder, seated } from './plan/seat.ts';
export { squeeze } from './plan/squeeze.ts';
export type { Hands, Proposal, Situation, Strategy } from './plan/strategy.ts';
export { summarize } from './plan/summarize.ts';
export {
  allOf,
  anyOf,
  firedBecause,
  tokenCount,
  turnCount,
  when,
  type Check,
  type Extent,
  type Trigger,
} from './plan/trigger.ts';
export { windowOf, type Window } from './plan/window.ts';
export { claudeCode } from './presets/claude-code.ts';
export { codex } from './presets/codex.ts';
export { ladder } from './presets/ladder.ts';
export { opencode } from './presets/opencode.ts';
export { pi, PI_DEFAULTS } from './presets/pi.ts';
export { PRESETS, type PresetName } from './presets/presets.ts';
export { recursiveSummary } from './presets/recursive-summary.ts';
export { step } from './presets/step.ts';
export { timeline } from './presets/timeline.ts';
export { slidingWindow, tokenWindow, turnWindow } from './presets/windows.ts';
export { PromptBuilder, type Landmarks } from './prompt/builder.ts';
export {
  cachePoints,
  DEFAULT_CACHE_LIMITS,
  type CacheLimits,
  type CachePointOptions,
} from './prompt/cache-points.ts';
export type { Prompt, PromptMessage, Source } from './prompt/prompt.ts';
export {
  finishPrompt,
  render,
  RENDER_VERSION,
  startPrompt,
  type RenderOptions,
} from './prompt/render.ts';
export {
  ALTERNATING_RULES,
  ANTHROPIC_RULES,
  OPENAI_RULES,
  STRICT_RULES,
  type ProviderRules,
} from './prompt/rules.ts';
export { pageOf, type PageRequest } from './recall/page.ts';
export { qualityOf, type Quality } from './recall/quality.ts';
export { READ_ARTIFACT_TOOL, readArtifact, type ToolDefinition } from './recall/read-artifact.ts';
export {
  answerRecall,
  embedCompacted,
  recall,
  RECALL_TOOL,
  type Recalled,
  type RecallOptions,
  type RecallRequest,
} from './recall/recall.ts';
export { REHYDRATION_LIMITS, type RehydrationLimits } from './recall/rehydrate.ts';
export { rankTexts, type Scored } from './recall/lexical-index.ts';
export { nearestVectors } from './recall/similarity.ts';
export { queryWords, searchText, wordsOf } from './recall/words.ts';
export { ANSWER_SCHEMA, decodeAnswer, proseSummary, type Decoded } from './summary/answer.ts';
export {
  cachedSummarizer,
  memorySummaryCache,
  summaryKey,
  type SummaryCache,
} from './summary/cache.ts';
export type { Contradiction } from './summary/contradiction.ts';
export { displayText, twoSentences } from './summary/display.ts';
export { extract, type ExtractRequest } from './summary/extract.ts';
export { chunks, formatMessage } from './summary/format.ts';
export { namesIn } from './summary/names.ts';
export {
  displayPrompt,
  mannerOf,
  promptVersion,
  splitTurnPrompt,
  summaryPrompt,
  type AnswerForm,
  type PromptRequest,
  type PromptStyle,
  type PromptTexts,
  type SummaryManner,
} from './summary/prompts.ts';
export { redactSecrets, redactSummary, type Redact } from './summary/redact.ts';
export { fitSummary, renderSummary, SUMMARY_RENDER_VERSION } from './summary/render.ts';
export type { Addition, SummaryReport } from './summary/report.ts';
export { sparing } from './summary/sparing.ts';
export { cleanExtract, extracting, extractSummarizer, refusal } from './summary/summarizer.ts';
export { standingFacts, type Superseded } from './summary/supersede.ts';
export {
  trustedSummarizer,
  verifiedSummarizer,
  type TrustOptions,
  type VerifyOptions,
} from './summary/trusted.ts';
export { verify, type Grounds, type Verified } from './summary/verify.ts';
export {
  EMPTY_SUMMARY,
  SUMMARY_SCHEMA_VERSION,
  type ArtifactReference,
  type Decision as SummaryDecision,
  type Fact,
  type FileRecord,
  type Item,
  type Note,
  type Priority,
  type Speaker,
  type SplitTurn,
  type Summary,
  type ToolOutcome,
} from './summary/summary.ts';
export {
  canonicalJson,
  isJsonObject,
  parseJson,
  type Json,
  type JsonObject,
} from './thread/json.ts';
export {
  callsOf,
  contentHash,
  hasCalls,
  hasResults,
  isOpaque,
  isSummary,
  messageId,
  resultsOf,
  resultText,
  startsTurn,
  textMessage,
  textOf,
  withParts,
  type ArtifactId,
  type CallPart,
  type ContentPart,
  type Determinism,
  type Durability,
  type FilePart,
  type ImagePart,
  type Message,
  type MessageId,
  type MessageMeta,
  type OpaquePart,
  type Outcome,
  type Part,
  type ReasoningPart,
  type ResultPart,
  type Role,
  type TextPart,
  type ThreadId,
  type Usage,
} from './thread/message.ts';
export { sha256 } from './thread/sha256.ts';
export { spanOf, type Span } from './thread/span.ts';
export { headOf, oneLine } from './thread/text.ts';
export { Thread, type Node } from './thread/thread.ts';
export { unitStarts } from './thread/units.ts';
export {
  budget,
  BUDGET_DEFAULTS,
  messageLimit,
  messagesOnly,
  overheadTokens,
  softLimit,
  STEP_DEFAULTS,
  stepThreshold,
  type Budget,
  type StepConfig,
} from './tokens/budget.ts';
export {
  calibrate,
  estimator,
  scaled,
  startCalibration,
  type Calibration,
} from './tokens/calibration.ts';
export { chars4, counterOf, type Counter, type RequestShape } from './tokens/counter.ts';
export { estimateMessagesTokens, estimateTokens } from './tokens/estimate.ts';
export { mediaTokens, type MediaProvider } from './tokens/media.ts';
export {
  contextLimit,
  isKnownModel,
  modelFacts,
  type ModelFacts,
  type ModelTable,
} from './tokens/models.ts';
export { contextSize, usageTokens, validUsage, type ContextSize } from './tokens/usage.ts';
