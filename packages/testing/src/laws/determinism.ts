import { isDeepStrictEqual } from 'node:util';
import {
  finishPrompt,
  render,
  startPrompt,
  windowOf,
  type Plan,
  type Prompt,
  type PromptMessage,
} from '@bobbin/core';
import { promptLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/** Rendered again from a copy of the plan: the same prompt. */
export function* deterministic(scene: Scene): Iterable<Breach> {
  const { thread, plan, prompt, context } = scene;
  const copy = JSON.parse(JSON.stringify(plan)) as Plan;
  if (!isDeepStrictEqual(copy, plan))
    yield { law: 'a plan is pure data', detail: 'its JSON does not give it back' };
  yield* same('rendered again', prompt, render(windowOf(thread, copy), copy, context));
}

/** With one plan, the prompt of a shorter path is a prefix of the prompt of a longer one. */
export function* growsAtTheEnd(scene: Scene): Iterable<Breach> {
  const { thread, plan, prompt, context } = scene;
  const law = 'with one plan a prompt is a prefix of the next';
  const shortest = Math.min(plan.threadVersion, thread.length);
  const builder = startPrompt(windowOf(thread, plan, shortest), plan, context);
  const lengths: number[] = [];
  let before: readonly PromptMessage[] = [];
  for (let length = shortest; ; length++) {
    const now = builder.messages.slice();
    lengths.push(now.length);
    const changed = now.findIndex(
      (m, i) => !isSame(m, i < before.length ? before[i] : prompt.messages[i]),
    );
    if (changed >= 0) {
      const shown = now[changed] as PromptMessage;
      yield { law, detail: `at length ${length}, position ${changed}: ${promptLine(shown)}` };
      return;
    }
    before = now;
    const next = thread.at(length);
    if (next === undefined) break;
    builder.push(next);
  }
  yield* same('rendered message by message', prompt, finishPrompt(builder, context));
  const middle = (shortest + thread.length) >> 1;
  const shorter = render(windowOf(thread, plan, middle), plan, context);
  if (shorter.messages.length !== lengths[middle - shortest])
    yield { law, detail: `at length ${middle} rendering whole and step by step differ` };
}

function* same(how: string, prompt: Prompt, again: Prompt): Iterable<Breach> {
  const { tokens } = again;
  if (isDeepStrictEqual({ ...prompt, tokens }, again)) return;
  const at = prompt.messages.findIndex((m, i) => !isDeepStrictEqual(m, again.messages[i]));
  const other = again.messages[at < 0 ? prompt.messages.length : at];
  const detail =
    other === undefined
      ? `${how}: ${again.messages.length} messages, ${again.tokens} tokens`
      : `${how}, position ${at}: ${promptLine(other)}`;
  yield { law: 'rendering deterministic', detail };
}

function isSame(a: PromptMessage, b: PromptMessage | undefined): boolean {
  return a === b || (b !== undefined && isDeepStrictEqual(a, b));
}
