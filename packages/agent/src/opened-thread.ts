import { createBobbin, type Counter, type Session } from '@bobbin/core';
import {
  budget,
  estimator,
  messageLimit,
  scaled,
  skipIfNotShorter,
  startCalibration,
  type ThreadKey,
} from '@bobbin/core/internal';
import { mannerOf } from '@bobbin/models';
import { aiSdk, type AiSdkMessage } from '@bobbin/codecs/ai-sdk';
import { budgetOf, policyOf, reserveOf } from './policy.ts';
import type { SessionSetting } from './session.ts';
import { sessionSummarizer } from './summarizing.ts';
import { toolPolicies, toolSchemas, type Toolbox } from './tools/toolbox.ts';

/** A handle with the figures of its budget. */
export interface OpenedThread {
  readonly handle: Session<AiSdkMessage>;
  /** What messages may take, and what the system prompt and the tools do. */
  readonly limitTokens: number;
  readonly systemTokens: number;
  readonly toolTokens: number;
  /** The tokenizer that counts; an estimator does where absent. */
  readonly exact?: Counter;
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
  const counter = exact ?? scaled(estimator(), startCalibration(model.id));
  const systemTokens = counter.text(system);
  const toolTokens = counter.tools(toolSchemas(tools));
  const whole = budget({ ...budgetOf(compaction, windowTokens), systemTokens, toolTokens });
  const summaryModel = summaries === 'extract' ? undefined : (setting.summaryModel ?? model);
  const policy = policyOf(compaction, windowTokens, automatic);
  const bobbin = createBobbin<AiSdkMessage>({
    model: model.id,
    budget: whole,
    preset: policy,
    codec: aiSdk,
    ...(exact === undefined ? {} : { counter: exact }),
    store: vault.store,
    artifacts: vault.artifacts,
    tools: toolPolicies(tools),
    tenant: key.tenant,
    clock,
    summarizer: skipIfNotShorter(
      sessionSummarizer({
        ...(summaryModel === undefined ? {} : { model: summaryModel }),
        manner: mannerOf(policy.name),
        ...(setting.summaryModel === undefined ? { live: setting.live } : {}),
        maxOutputTokens: Math.floor(reserveOf(compaction, windowTokens) * 0.8),
        onStart: setting.onSummaryStart,
        onReport: setting.onSummaryReport,
        onFailure: setting.onSummaryFailure,
      }),
    ),
  });
  const handle = await bobbin.thread(key.thread);
  const figures = { limitTokens: messageLimit(whole), systemTokens, toolTokens };
  return { handle, ...figures, ...(exact === undefined ? {} : { exact }) };
}
