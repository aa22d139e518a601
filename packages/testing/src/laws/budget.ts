import type { Counter, Message, Prompt } from '@bobbin/core';
import { inPlace, type ArtifactId, type ExternalizeRecord, type Node } from '@bobbin/core/internal';
import { messageLine } from '../prompt-lines.ts';
import type { Breach, Scene } from './scene.ts';

/** The prompt costs what it says, and no more than it may, unless nothing is left to take away. */
export function* budget(scene: Scene): Iterable<Breach> {
  const { whole, prompt, context } = scene;
  const {
    counter,
    limitTokens = Number.POSITIVE_INFINITY,
    reserveTokens = 0,
    fits = true,
  } = context;
  const counted = sum(counter, whole);
  const own = prompt === whole ? counted : sum(counter, prompt);
  if (counted !== whole.tokens)
    yield { law: 'counted right', detail: `says ${whole.tokens} tokens, has ${counted}` };
  if (fits && own > limitTokens)
    yield { law: 'within budget', detail: `${own} tokens, may have ${limitTokens}` };
  if (!fits && own <= limitTokens)
    yield { law: 'within budget', detail: `fits (${own} of ${limitTokens}), but says not` };
  if (counted - own > reserveTokens)
    yield {
      law: 'within budget',
      detail: `${counted - own} brought back, may be ${reserveTokens}`,
    };
  if (!fits) yield* smallest(scene);
}

function sum(counter: Counter, { messages }: Prompt): number {
  return messages.reduce((tokens, { message }) => tokens + fresh(counter, message), 0);
}

/** If a prompt may exceed its budget, only pins are left in it, and shortened to pointers they would not fit either. */
function* smallest({ window, positionsOf, pinnedUnits, prompt, context }: Scene): Iterable<Breach> {
  const law = 'over budget only where the pins alone are';
  const { counter, limitTokens = 0 } = context;
  let least = sum(counter, prompt);
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

/** A message moved to an artifact with none of it left: its id and description have as many tokens as such texts can. */
function largestPointer({ id, turn, message }: Node): Message {
  const record: ExternalizeRecord = {
    kind: 'externalize',
    span: { ids: [id], firstTurn: turn, lastTurn: turn },
    artifactId: 'a1b2c3d4e5f6a7b8'.repeat(2) as ArtifactId,
    summary: '会'.repeat(LONGEST_DESCRIPTION),
    hint: '',
    kept: [],
    argsChars: 0,
  };
  return inPlace(message, record, { offersReadArtifact: true });
}

/** Counts a copy: what a counter remembers of the message itself does not help it. */
function fresh(counter: Counter, message: Message): number {
  return counter.message({ ...message });
}
