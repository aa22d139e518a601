import { isDeepStrictEqual } from 'node:util';
import type { Plan, Prompt } from '@bobbin/core';
import { render, PromptBuilder, type PromptMessage, type Source } from '@bobbin/core/internal';
import { promptLine } from '../prompt-lines.ts';
import { withoutMeta, type Breach, type Scene } from './scene.ts';

const copies = new WeakMap<Plan, Plan>();

/** A plan's JSON read back, as it was when the plan was first seen: a plan that is changed later is no longer equal. */
function copyOf(plan: Plan): Plan {
  const copy = copies.get(plan) ?? (JSON.parse(JSON.stringify(plan)) as Plan);
  copies.set(plan, copy);
  return copy;
}

/** Rendered again from a copy of the plan: the same prompt. */
export function* deterministic(scene: Scene): Iterable<Breach> {
  const { thread, plan, prompt, context } = scene;
  const copy = copyOf(plan);
  if (!isDeepStrictEqual(copy, plan))
    yield { law: 'a plan is pure data', detail: 'its JSON does not give it back' };
  yield* same('rendered again', prompt, render(thread.window(copy), copy, context));
}

/** With one plan, the prompt of a shorter path is a prefix of the prompt of a longer one. */
export function* growsAtTheEnd(scene: Scene): Iterable<Breach> {
  const { thread, plan, prompt, context } = scene;
  const law = 'with one plan a prompt is a prefix of the next';
  const shortest = Math.min(plan.threadVersion, thread.length);
  const builder = new PromptBuilder(thread.window(plan, shortest), plan, context);
  const lengths: number[] = [];
  let before: readonly PromptMessage[] = [];
  for (let length = shortest; ; length++) {
    const now = builder.messages;
    lengths.push(now.length);
    const changed = firstChange(now, before, prompt.messages);
    if (changed >= 0) {
      const shown = now[changed] as PromptMessage;
      yield { law, detail: `at length ${length}, position ${changed}: ${promptLine(shown)}` };
      return;
    }
    before = now.slice();
    const next = thread.at(length);
    if (next === undefined) break;
    builder.push(next);
  }
  yield* same('rendered message by message', prompt, builder.finish(context));
  const middle = (shortest + thread.length) >> 1;
  if (middle === shortest) return;
  const shorter = new PromptBuilder(thread.window(plan, middle), plan, context);
  if (shorter.messages.length !== lengths[middle - shortest])
    yield { law, detail: `at length ${middle} rendering whole and step by step differ` };
}

/** The first position that is not as it was before, or for a new one, as it is in the prompt; -1 if there is none. */
function firstChange(
  now: readonly PromptMessage[],
  before: readonly PromptMessage[],
  prompt: readonly PromptMessage[],
): number {
  for (let i = 0; i < now.length; i++)
    if (!isSame(now[i] as PromptMessage, i < before.length ? before[i] : prompt[i])) return i;
  return -1;
}

function* same(how: string, prompt: Prompt, again: Prompt): Iterable<Breach> {
  const at = firstChange(prompt.messages, [], again.messages);
  const { messages, tokens } = again;
  const isEqual = at < 0 && messages.length === prompt.messages.length;
  // Messages are compared one by one above: most are the very objects.
  if (isEqual && isDeepStrictEqual({ ...prompt, messages, tokens }, { ...again })) return;
  const other = again.messages[at < 0 ? prompt.messages.length : at];
  const detail =
    other === undefined
      ? `${how}: ${again.messages.length} messages, ${again.tokens} tokens`
      : `${how}, position ${at}: ${promptLine(other)}`;
  yield { law: 'rendering deterministic', detail };
}

function isSame(a: PromptMessage, b: PromptMessage | undefined): boolean {
  if (a === b) return true;
  if (b === undefined) return false;
  const isSameMessage =
    a.message === b.message || isDeepStrictEqual(withoutMeta(a.message), withoutMeta(b.message));
  return (
    isSameMessage && (hasSameFields(a.source, b.source) || isDeepStrictEqual(a.source, b.source))
  );
}

function hasSameFields(a: Source, b: Source): boolean {
  const [one, other]: readonly Readonly<Record<string, unknown>>[] = [a, b];
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length && names.every((name) => one?.[name] === other?.[name])
  );
}
