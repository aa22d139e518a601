import { type HostRequest, lastOf } from '@bobbin/core/internal';
import type { Fitted, MessageId } from '@bobbin/core';
import type { AiSdkMessage } from '@bobbin/codecs';

/** A prompt and the conversation that it is of. */
export interface PreparedPrompt {
  readonly conversation: HostRequest<AiSdkMessage>;
  readonly fitted: Fitted<AiSdkMessage>;
  /** True if `prepareStep` made it. */
  readonly isPrepared?: boolean;
}

/** What the SDK hands through a run unchanged, in major 7 and in major 6. */
export interface RunContext {
  readonly runtimeContext?: unknown;
  readonly experimental_context?: unknown;
}

export function contextOf({ runtimeContext, experimental_context }: RunContext): unknown {
  return runtimeContext ?? experimental_context;
}

interface OpenStep extends PreparedPrompt {
  readonly context: unknown;
}

const MOST_OPEN = 64;

/** The steps that were prepared and have not finished. One that was aborted never does: the oldest is forgotten first. */
export class OpenSteps {
  /** By the list in which a run of the SDK keeps its steps. */
  readonly #steps = new Map<readonly object[], OpenStep>();

  add(run: readonly object[], context: unknown, prepared: PreparedPrompt): void {
    this.#steps.delete(run);
    this.#steps.set(run, { ...prepared, context, isPrepared: true });
    const [oldest] = this.#steps.keys();
    if (this.#steps.size > MOST_OPEN && oldest !== undefined) this.#steps.delete(oldest);
  }

  /**
   * Returns the prepared step of a finished one and closes it. A run lists a step before it reports it or after; in the
   * second case the step is known by its context. If several could be meant, none is returned, and what the step said
   * comes with the next list of its conversation.
   */
  finish(step: RunContext & { readonly stepNumber?: number }): PreparedPrompt | undefined {
    const context = contextOf(step);
    const steps = [...this.#steps];
    const listed = steps.filter(([run]) => run.includes(step));
    const alike = steps.filter(
      ([run, each]) =>
        run.length === (step.stepNumber ?? run.length) &&
        (context === undefined || context === each.context),
    );
    const [only, other] = listed.length > 0 ? listed : alike;
    if (only === undefined || other !== undefined) return undefined;
    this.#steps.delete(only[0]);
    return only[1];
  }

  /** The newest step whose list ends with a message. */
  endingWith(head: MessageId): PreparedPrompt | undefined {
    return lastOf([...this.#steps.values()], ({ conversation }) => conversation.head === head);
  }
}
