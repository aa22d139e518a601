import type { Agent } from '../loop/agent.ts';
import type { Compacting } from '../compaction/compacting.ts';
import { tokensText } from '../figures.ts';
import type { MachineEvent, Result } from '../loop/machine.ts';
import type { Model } from './models.ts';
import { reasonOf } from './provider-error.ts';
import { saveModel } from '../settings.ts';

/** Goes on with another model; if its window is smaller, the old one compacts first. */
export async function switchModel(
  agent: Agent,
  compacting: Compacting,
  model: Model,
  signal: AbortSignal,
): Promise<MachineEvent> {
  const { session } = agent;
  const { setting, windowTokens } = session;
  // A model that cannot be loaded is not switched to.
  await model.load();
  let result: Result = 'none';
  if (model.windowTokens < windowTokens) {
    try {
      // For the new window, but by the old model: the new one could not read it all.
      await session.change({ model, summaryModel: setting.summaryModel ?? setting.model });
      result = await compacting.report(await session.prompt(true, signal), signal);
    } catch (error) {
      await session.change(setting);
      throw error;
    }
  }
  const { summaryModel: _, ...rest } = session.setting;
  const own = setting.summaryModel;
  await session.change({
    ...rest,
    model,
    summaries: 'model',
    ...(own === undefined ? {} : { summaryModel: own }),
  });
  keep(agent, model.name);
  agent.tellSession();
  return { kind: 'switched', result };
}

/** The next start begins with the model; a failure to keep it is reported and costs nothing else. */
function keep({ options, emit, session }: Agent, name: string): void {
  const text = `${name}, a window of ${tokensText(session.windowTokens)} tokens`;
  try {
    saveModel(options.folders, name);
    emit({ type: 'notice', text: `${text}; the next start begins with it too.` });
  } catch (error) {
    emit({ type: 'notice', text: `${text}; it could not be kept: ${reasonOf(error)}` });
  }
}
