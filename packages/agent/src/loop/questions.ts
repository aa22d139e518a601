import type { AgentEvent } from '../events.ts';
import type { Answer } from './permissions.ts';
import type { Question } from './tool-run.ts';

/** The permissions that a person is asked for, until they are answered. */
export class Questions {
  readonly #emit: (event: AgentEvent) => void;
  readonly #open = new Map<string, (answer: Answer) => void>();
  #count = 0;
  #isAnswered = true;

  constructor(emit: (event: AgentEvent) => void) {
    this.#emit = emit;
  }

  ask(question: Question, signal: AbortSignal): Promise<Answer> {
    if (!this.#isAnswered) return Promise.resolve('no');
    const id = `permission-${++this.#count}`;
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      signal.addEventListener('abort', () => this.answer(id, 'no'), { once: true });
      this.#emit({ type: 'permission', id, ...question });
    });
  }

  /** False if that was not asked, or no longer is. */
  answer(id: string, answer: Answer): boolean {
    const resolve = this.#open.get(id);
    this.#open.delete(id);
    resolve?.(answer);
    return resolve !== undefined;
  }

  /** No person answers any more: open questions and all later ones get a no. */
  close(): void {
    this.#isAnswered = false;
    for (const id of this.#open.keys()) this.answer(id, 'no');
  }
}
