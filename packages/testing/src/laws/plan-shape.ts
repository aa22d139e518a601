import type { MessageId } from '@bobbin/core';
import type { Breach, Scene } from './scene.ts';

/** A plan names messages that exist, in order, each with one action; what it carries comes before its start. */
export function* planShape({ plan, thread }: Scene): Iterable<Breach> {
  const law = 'a plan names its messages one by one';
  const seen = new Map<MessageId, number>();
  for (const [i, { kind, span }] of plan.records.entries()) {
    const nodes = span.ids.map((id) => thread.get(id));
    const missing = span.ids.find((_, at) => nodes[at] === undefined);
    if (span.ids.length === 0) yield { law, detail: `record ${i} (${kind}) names none` };
    if (missing !== undefined) yield { law, detail: `record ${i} (${kind}) names ${missing}` };
    const indices = nodes.flatMap((node) => node?.index ?? []);
    if (indices.some((index, at) => at > 0 && index <= (indices[at - 1] ?? 0)))
      yield { law, detail: `record ${i} (${kind}) is out of order: ${indices.join(', ')}` };
    const [first, last] = [nodes[0]?.turn, nodes.at(-1)?.turn];
    if (missing === undefined && (first !== span.firstTurn || last !== span.lastTurn))
      yield {
        law,
        detail: `record ${i} (${kind}) says turns ${span.firstTurn}-${span.lastTurn}, has ${first}-${last}`,
      };
    for (const id of span.ids) {
      if (seen.has(id))
        yield {
          law: 'one action per message',
          detail: `${id} is in records ${seen.get(id)}, ${i}`,
        };
      seen.set(id, i);
    }
  }
  const hidden = new Set(plan.hides.map(({ id }) => id));
  if (hidden.size !== plan.hides.length)
    yield { law: 'one action per message', detail: 'a message is hidden twice' };
  yield* beginning(plan, thread);
}

function* beginning(plan: Scene['plan'], thread: Scene['thread']): Iterable<Breach> {
  const law = 'a plan knows where it begins';
  let last = -1;
  for (const { id, index } of plan.carried) {
    if (thread.get(id)?.index !== index || !thread.onPath({ id, index }))
      yield { law, detail: `carried ${id} is not at ${index}` };
    if (index <= last || index >= plan.start)
      yield { law, detail: `carried ${index} after ${last}, start ${plan.start}` };
    last = index;
  }
  if (plan.start > plan.threadVersion)
    yield { law, detail: `starts at ${plan.start}, made at length ${plan.threadVersion}` };
  const head = plan.head === null ? undefined : thread.get(plan.head);
  if (plan.head !== null && head?.index !== plan.threadVersion - 1)
    yield { law, detail: `head at ${head?.index}, made at length ${plan.threadVersion}` };
}
