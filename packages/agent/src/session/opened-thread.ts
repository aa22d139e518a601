import { createBobbin, type Counter, type Session } from '@bobbin/core';
import {
  budget,
  estimator,
  messageLimit,
  modelFacts,
  scaled,
  skipIfNotShorter,
  startCalibration,
  type ThreadKey,
} from '@bobbin/core/internal';
import { mannerOf } from '@bobbin/models';
import { aiSdk, type AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import { budgetOf, policyOf, reserveOf } from '../compaction/policy.ts';
import type { SessionSetting } from './session-setting.ts';
import { sessionSummarizer } from '../compaction/summarizing.ts';
import { toolPolicies, toolSchemas, type Toolbox } from '../tools/toolbox.ts';

/** A handle with the figures of its budget. */
export interface OpenedThread {
  readonly handle: Session<AiSdkMessage>;
  /** What messages may take, and what the system prompt and the tools do. */
  readonly limitTokens: number;
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** The tokenizer that counts; an estimator does if absent. */
  readonly exact?: Counter;
  /** What counts before anything is learnt of the model. */
  readonly base: Counter;
}

export async function openThread(
  key: ThreadKey,
  tools: Toolbox,
  setting: SessionSetting,
  system: string,
  windowTokens: number,
  exact?: Counter,
): Promise<OpenedThread> {
  const { settings, vault, model, clock, automatic, summaries } = setting;
  const { compaction } = settings;
  const base = exact ?? estimator(modelFacts(model.id).provider);
  const start = exact === undefined ? startCalibration(model.id) : EXACT;
  const counter = scaled(base, { ...start, ...vault.learnt.of(model.name, base) });
  const systemTokens = counter.text(system);
  const toolTokens = counter.tools(toolSchemas(tools));
  const whole = budget({ ...budgetOf(compaction, windowTokens), systemTokens, toolTokens });
  const summaryModel = summaries === 'extract' ? undefined : (setting.summaryModel ?? model);
  const policy = policyOf(compaction, windowTokens, automatic);
  const summarizer = skipIfNotShorter(
    sessionSummarizer({
      ...(summaryModel === undefined ? {} : { model: summaryModel }),
      manner: mannerOf(policy.name),
      ...(setting.summaryModel === undefined ? { live: setting.live } : {}),
      maxOutputTokens: Math.floor(reserveOf(compaction, windowTokens) * 0.8),
      onStart: setting.onSummaryStart,
      onReport: setting.onSummaryReport,
      onFailure: setting.onSummaryFailure,
    }),
  );
  const bobbin = createBobbin<AiSdkMessage>({
    model: model.id,
    budget: whole,
    preset: policy,
    codec: aiSdk,
    counter,
    store: vault.store,
    artifacts: vault.artifacts,
    tools: toolPolicies(tools),
    offersReadArtifact: tools.has('read_artifact') && tools.has('recall'),
    tenant: key.tenant,
    clock,
    summarizer: {
      id: summarizer.id,
      summarize(request) {
        setting.onSummaryWanted();
        return summarizer.summarize(request);
      },
    },
  });
  const handle = await bobbin.thread(key.thread);
  const figures = { limitTokens: messageLimit(whole), systemTokens, toolTokens };
  return { handle, ...figures, base, ...(exact === undefined ? {} : { exact }) };
}

/** A tokenizer is right until reports say otherwise. */
const EXACT = { factor: 1, samples: 0 };
