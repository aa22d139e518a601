import type { MessageId } from '@bobbin/core';
import {
  offersMemory,
  RequestSize,
  sendFitting,
  type HostRequest,
  type Json,
} from '@bobbin/core/internal';
import type { AiSdkMessage } from '@bobbin/codecs';
import type { HostConversations } from '../conversations.ts';
import type { OpenSteps, PreparedPrompt } from './open-steps.ts';
import { asPrompt, split, textOf } from './model-prompt.ts';
import { usageOfModel, type ModelUsage } from './usage.ts';

/** What a language model is called with, as far as it matters here; the same in both majors. */
interface CallParams {
  prompt: AiSdkMessage[];
  tools?: object[] | undefined;
  providerOptions?: (Record<string, unknown> & Partial<StepMark>) | undefined;
}

/**
 * The mark of a prepared step, which the SDK hands on to the model: the message that its list ends with. As ids are
 * chained, the same mark is the same history.
 */
export interface StepMark {
  [provider: string]: { head: string };
  bobbin: { head: string };
}

export function markOf({ head = '' as MessageId }: HostRequest<AiSdkMessage>): StepMark {
  return { bobbin: { head } };
}

interface Generated {
  usage: ModelUsage;
}

interface Streamed {
  stream: ReadableStream<{ type: string }>;
}

/** A `LanguageModelMiddleware` of either major. */
export interface AiSdkMiddleware {
  readonly specificationVersion: 'v3';
  readonly wrapGenerate: <Params extends object, Result extends Generated>(call: {
    params: Params;
    model: { doGenerate(params: Params): PromiseLike<Result> };
  }) => Promise<Result>;
  readonly wrapStream: <Params extends object, Result extends Streamed>(call: {
    params: Params;
    model: { doStream(params: Params): PromiseLike<Result> };
  }) => Promise<Result>;
}

/**
 * For hosts that cannot touch the loop, and for all who want a refused prompt to be compacted and sent again. It
 * sees the whole request. A prompt that `prepareStep` made is sent as it is.
 */
export function middlewareFor(
  conversations: HostConversations<AiSdkMessage>,
  open: OpenSteps,
): AiSdkMiddleware {
  const size = new RequestSize();

  /** The conversation of a request, and its prompt: made in `prepareStep` already, or now. */
  async function fit({ prompt, tools = [], providerOptions }: CallParams): Promise<PreparedPrompt> {
    const [system, said] = split(prompt);
    const head = providerOptions?.bobbin?.head as MessageId | undefined;
    const prepared = head === undefined ? undefined : open.endingWith(head);
    if (prepared !== undefined) return prepared;
    const conversation = await conversations.take(said);
    const { counter } = conversation.session;
    const budget = size.measure(counter, system.map(textOf).join('\n'), tools as Json);
    const asked = { budget, offersReadArtifact: offersMemory(tools) };
    return { conversation, fitted: await conversation.prompt(asked, [...system, ...tools]) };
  }

  async function send<Params extends object, Result>(
    params: Params,
    call: (params: Params) => PromiseLike<Result>,
  ): Promise<[Result, HostRequest<AiSdkMessage>]> {
    const asked = params as unknown as CallParams;
    const { conversation, fitted, isPrepared } = await fit(asked);
    const [system] = split(asked.prompt);
    const result = await sendFitting(conversation, fitted, (now) =>
      call(
        now === fitted && isPrepared === true
          ? params
          : { ...params, prompt: [...system, ...now.messages.map(asPrompt)] },
      ),
    );
    return [result, conversation];
  }

  return {
    specificationVersion: 'v3',
    async wrapGenerate({ params, model }) {
      const [result, conversation] = await send(params, (fitting) => model.doGenerate(fitting));
      conversation.report(usageOfModel(result.usage));
      return result;
    },
    async wrapStream({ params, model }) {
      const [result, conversation] = await send(params, (fitting) => model.doStream(fitting));
      const watching = new TransformStream<{ type: string }, { type: string }>({
        transform(part, controller) {
          if (part.type === 'finish')
            conversation.report(usageOfModel((part as unknown as Generated).usage));
          controller.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(watching) };
    },
  };
}
