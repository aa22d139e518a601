import assert from 'node:assert/strict';
import { contextLimitOf, type CompactionEvent } from 'bobbin';
import { Task } from '../packages/adapters/test/task.ts';
import { taskProvider, type Dialect } from '../packages/adapters/test/task-provider.ts';

export { STEP_SCHEMA, type StepArguments } from '../packages/adapters/test/task.ts';

/** What the examples work at, and who works: a scripted model on loopback, or a real one where there is a key. */
export interface Workbench {
  readonly task: Task;
  readonly url: string;
  readonly apiKey: string;
  readonly modelName: string;
  /** The window in tokens that the agent has to do with. */
  readonly window: number;
  /** Counts compactions, where Bobbin is told to tell of them. */
  readonly onEvent: (event: CompactionEvent) => void;
  /** Waits for the agent's last word, and prints it with what was done; or that it was refused, as without Bobbin. */
  readonly report: (lastWord: PromiseLike<unknown>) => Promise<void>;
}

/** A job of many steps that is larger than the window. With OPENAI_API_KEY a real model does it (OPENAI_MODEL names which). */
export async function workbench(dialect: Dialect, steps: number = 60): Promise<Workbench> {
  const { OPENAI_API_KEY: apiKey, OPENAI_MODEL: modelName = 'gpt-5-mini' } = process.env;
  const window = 10_000;
  const task = new Task(steps);
  if (apiKey !== undefined) {
    const url = process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
    return { task, url, apiKey, modelName, window, ...reporting(task, window) };
  }
  const { url, close } = await taskProvider(dialect, task, window);
  const scripted = { apiKey: 'scripted', modelName: 'scripted' };
  return { task, url, ...scripted, window, ...reporting(task, window, close) };
}

function reporting(
  task: Task,
  window: number,
  close?: () => Promise<void>,
): Pick<Workbench, 'onEvent' | 'report'> {
  let compactions = 0;
  const steps = (): string => `${task.done.length} of ${task.steps} steps`;
  return {
    onEvent(event) {
      if (event.kind === 'completed' && event.freed > 0) compactions += 1;
    },
    async report(lastWord) {
      try {
        const word = String(await lastWord);
        assert.equal(task.done.length, task.steps);
        const where = `in a window of ${window} tokens, compacted ${compactions} times`;
        console.log(`${steps()} ${where}: ${word}`);
      } catch (error) {
        if (contextLimitOf(error) === undefined) throw error;
        console.error(`Refused after ${steps()}: ${(error as Error).message}`);
        process.exitCode = 1;
      } finally {
        await close?.();
      }
    },
  };
}
