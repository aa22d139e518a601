import {
  seated,
  type ArtifactId,
  type Counter,
  type ExternalizeRecord,
  type Message,
  type Node,
} from '@bobbin/core';
import { messageLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/** The prompt costs what it says, and no more than it may, unless nothing is left to be taken away. */
export function* budget(scene: Scene): Iterable<Breach> {
  const { prompt, context } = scene;
  const { counter, limitTokens = Number.POSITIVE_INFINITY, fits = true } = context;
  const counted = prompt.messages.reduce((sum, { message }) => sum + fresh(counter, message), 0);
  if (counted !== prompt.tokens)
    yield { law: 'counted right', detail: `says ${prompt.tokens} tokens, has ${counted}` };
  if (fits && counted > limitTokens)
    yield { law: 'within budget', detail: `${counted} tokens, may have ${limitTokens}` };
  if (!fits && counted <= limitTokens)
    yield { law: 'within budget', detail: `fits (${counted} of ${limitTokens}), but says not` };
  if (!fits) yield* smallest(scene);
}

/** Where a prompt may exceed its budget, only pins are left in it, and shortened to pointers they would not fit either. */
function* smallest({ window, positionsOf, pinnedUnits, prompt, context }: Scene): Iterable<Breach> {
  const law = 'over budget only where the pins alone are';
  const { counter, limitTokens = 0 } = context;
  let least = prompt.tokens;
  for (const node of window) {
    for (const position of positionsOf.get(node.id) ?? []) {
      const shown = prompt.messages[position]?.message;
      if (shown === undefined) continue;
      if (!pinnedUnits.has(node.id))
        yield { law, detail: `message ${node.index} is no pin: ${messageLine(shown)}` };
      least -= Math.max(0, fresh(counter, shown) - fresh(counter, largestPointer(node)));
    }
  }
  if (least <= limitTokens * CLEARLY)
    yield { law, detail: `as pointers the pins would cost ${least}, may cost ${limitTokens}` };
}

/** Pointers differ by a few tokens: only what clearly fits should have been made to. */
const CLEARLY = 0.9;
const LONGEST_DESCRIPTION = 240;

/** A message moved to an artifact with none of it left, described in the dearest characters. */
function largestPointer({ id, turn, message }: Node): Message {
  const record: ExternalizeRecord = {
    kind: 'externalize',
    span: { ids: [id], firstTurn: turn, lastTurn: turn },
    artifactId: '0'.repeat(32) as ArtifactId,
    summary: '会'.repeat(LONGEST_DESCRIPTION),
    hint: '',
    headChars: 0,
    tailChars: 0,
  };
  return seated(message, record);
}

/** Counts a copy: what a counter remembers of the message itself does not help it. */
function fresh(counter: Counter, message: Message): number {
  return counter.message({ ...message });
}
