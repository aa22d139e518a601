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
  readonly close: () => Promise<void>;
}

/** A job of many steps that is larger than the window. With OPENAI_API_KEY a real model does it (OPENAI_MODEL names which). */
export async function workbench(dialect: Dialect, steps: number = 60): Promise<Workbench> {
  const { OPENAI_API_KEY: apiKey, OPENAI_MODEL: modelName = 'gpt-5-mini' } = process.env;
  const window = 10_000;
  const task = new Task(steps);
  if (apiKey !== undefined) {
    const url = process.env['OPENAI_BASE_URL'] ?? 'https://api.openai.com/v1';
    return { task, url, apiKey, modelName, window, close: () => Promise.resolve() };
  }
  const { url, close } = await taskProvider(dialect, task, window);
  return { task, url, apiKey: 'scripted', modelName: 'scripted', window, close };
}
