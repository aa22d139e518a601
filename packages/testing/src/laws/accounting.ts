import {
  textOf,
  type Counter,
  type Message,
  type MessageId,
  type Part,
  type ResultPart,
} from '@bobbin/core';
import {
  callsOf,
  hasResults,
  holdsReasoning,
  resultsOf,
  startsTurn,
  type ContentPart,
  type Node,
  type PlanRecord,
  type PromptMessage,
} from '@bobbin/core/internal';
import { messageLine, promptLine } from '../prompt-lines.ts';
import { isBeside, isReminder } from '../reminders.ts';
import { takesAway, withoutMeta, type Breach, type Scene } from './scene.ts';

/**
 * Nothing shows twice: no record, and no message of the thread except with one part in its place and one shown late.
 */
export function* nothingTwice({ prompt, plan, thread, positionsOf }: Scene): Iterable<Breach> {
  const law = 'nothing duplicated';
  for (const [id, positions] of positionsOf) {
    const shown = positions.map((position) => prompt.messages[position] as PromptMessage);
    const late = shown.filter((message) => isLate(message));
    if (shown.length - late.length > 1 || late.length > 1)
      yield { law, detail: `message ${thread.get(id)?.index} is shown at ${positions.join(', ')}` };
  }
  const perRecord = new Map<number, number>();
  for (const { source } of prompt.messages) {
    if (source.kind === 'record')
      perRecord.set(source.record, (perRecord.get(source.record) ?? 0) + 1);
  }
  const { summaryRole } = plan.style;
  for (const [i, record] of plan.records.entries()) {
    const allowed = record.kind === 'summarize' && summaryRole === 'pair' ? 2 : 1;
    const wanted = isShownInLine(record) ? allowed : 0;
    if ((perRecord.get(i) ?? 0) !== wanted) {
      const times = `${perRecord.get(i) ?? 0} times, not ${wanted}`;
      yield { law, detail: `record ${i} (${record.kind}) is shown ${times}` };
    }
  }
}

/** Each thing is brought back once. With one plan a prompt begins with the one before it, less the reminders that left. */
export function* reminders({ whole, plan, context }: Scene): Iterable<Breach> {
  const seen = new Set<string>();
  for (const { source } of whole.messages) {
    if (source.kind !== 'rehydrated' && source.kind !== 'recalled') continue;
    const what = source.kind === 'rehydrated' ? source.artifactId : source.id;
    if (seen.has(what)) yield { law: 'brought back once', detail: `${what} is shown twice` };
    seen.add(what);
  }
  const last = context.sent?.at(-1);
  if (last?.plan !== plan) return;
  const remains = (shown: PromptMessage): boolean =>
    !isReminder(shown) || whole.messages.some(({ message }) => isSame(message, shown.message));
  const isShort = !last.messages.every(remains);
  const before = last.messages.filter((shown) => remains(shown) && !(isShort && isBeside(shown)));
  const now = isShort ? whole.messages.filter((shown) => !isBeside(shown)) : whole.messages;
  const moved = before.findIndex(({ message }, i) => {
    const other = now[i]?.message;
    return other === undefined || !isSame(message, other);
  });
  if (moved >= 0)
    yield {
      law: 'a reminder stays where it was put',
      detail: `position ${moved} was ${promptLine(before[moved] as PromptMessage)}`,
    };
}

function isShownInLine(record: PlanRecord): boolean {
  // A summary for which there was no space is in the plan only.
  if (record.kind === 'summarize') return record.text !== '';
  return record.kind === 'externalize' && takesAway(record);
}

/** A result apart from its call is shown as the user's text; the rest of its message keeps its place. */
function isLate({ message, source }: PromptMessage): boolean {
  const [first] = message.parts;
  return (
    source.kind === 'changed' &&
    source.by === 'stray' &&
    first?.kind === 'text' &&
    first.text.startsWith('[Late result of ')
  );
}

/** A kept message is what came in, byte for byte; a changed one has the same speaker and the same calls. */
export function* keptIsIdentical({ prompt, thread, recordOf, plan }: Scene): Iterable<Breach> {
  const hidden = new Set(plan.hides.map(({ id }) => id));
  for (const shown of prompt.messages) {
    const { source, message } = shown;
    if (source.kind !== 'kept' && source.kind !== 'changed') continue;
    const node = thread.get(source.id);
    if (node === undefined || !thread.onPath(node)) {
      yield { law: 'of this thread', detail: `${promptLine(shown)} is not on the path` };
    } else if (source.kind === 'kept') {
      if (!isSame(message, node.message))
        yield {
          law: 'kept means identical',
          detail: `message ${node.index}: ${promptLine(shown)}`,
        };
    } else if (!isLate(shown)) yield* samePlace(node, shown);
    else if (!recordOf.has(node.id) && !hidden.has(node.id)) yield* lateWhole(node, shown);
  }
}

/** Byte for byte; a session may have copies of what came in. */
function isSame(a: Message | Part, b: Message | Part): boolean {
  return a === b || JSON.stringify(withoutMeta(a)) === JSON.stringify(withoutMeta(b));
}

function* samePlace(node: Node, shown: PromptMessage): Iterable<Breach> {
  const law = 'a changed message keeps its place';
  if (
    node.message.role !== shown.message.role ||
    callNames(node.message) !== callNames(shown.message)
  )
    yield { law, detail: `message ${node.index}: ${promptLine(shown)}` };
  if (shown.message.parts.length === 0 && node.message.parts.length > 0)
    yield { law, detail: `message ${node.index} was emptied: ${messageLine(node.message)}` };
}

function callNames(message: Message): string {
  return callsOf(message)
    .map(({ callId, tool }) => `${callId} ${tool}`)
    .join('\n');
}

/** A late result is shown with all that it holds. */
function* lateWhole(node: Node, shown: PromptMessage): Iterable<Breach> {
  const law = 'nothing vanishes';
  const text = textOf(shown.message);
  const missing = (part: ContentPart): boolean =>
    part.kind === 'text'
      ? !text.includes(part.text)
      : !shown.message.parts.some((each) => isSame(each, part));
  const some = resultsOf(node.message).filter(({ callId }) => text.includes(`(call ${callId})`));
  // A message may answer one call twice: the first answer is in place, the other becomes text.
  const isCut = ({ callId }: ResultPart): boolean =>
    some.every((other) => other.callId !== callId || other.content.some(missing));
  const cut = some.find(isCut);
  if (some.length === 0) yield { law, detail: `late message ${node.index} shows no result` };
  if (cut !== undefined) yield { law, detail: `content of late ${cut.callId} at ${node.index}` };
}

/** Messages of the thread keep its order; a late result may come after the results of the round it came into. */
export function* inOrder({ prompt, thread }: Scene): Iterable<Breach> {
  const law = 'thread order kept';
  let last = -1;
  let lastSaid = -1;
  let lastLate = -1;
  for (const shown of prompt.messages) {
    const { source, message } = shown;
    if (source.kind !== 'kept' && source.kind !== 'changed') continue;
    const index = thread.get(source.id)?.index ?? -1;
    if (isLate(shown)) {
      if (index <= lastLate || index < lastSaid)
        yield { law, detail: `late message ${index} after ${Math.max(lastLate, lastSaid)}` };
      lastLate = index;
      continue;
    }
    if (index <= last || index <= lastLate)
      yield { law, detail: `message ${index} after ${Math.max(last, lastLate)}` };
    last = index;
    if (!hasResults(message)) lastSaid = index;
  }
}

/** Every message of the path is shown, replaced by a record of this plan or an earlier one, or still pending. */
export function* nothingVanishes(scene: Scene): Iterable<Breach> {
  const { thread, plan, context, recordOf, positionsOf, pending, window } = scene;
  const law = 'nothing vanishes';
  const inWindow = new Set(window.map(({ id }) => id));
  const recorded = new Set<MessageId>();
  for (const { records } of [...(context.earlier ?? []), plan])
    for (const { span } of records) for (const id of span.ids) recorded.add(id);
  for (const node of thread.path()) {
    const shown = positionsOf.has(node.id);
    const gone = takesAway(recordOf.get(node.id));
    if (shown && gone)
      yield { law: 'one action per message', detail: `shown and gone: ${nodeLine(node)}` };
    if (shown && pending.has(node.id))
      yield { law, detail: `shown while pending: ${nodeLine(node)}` };
    if (shown || gone || pending.has(node.id)) continue;
    if (!inWindow.has(node.id) && recorded.has(node.id)) continue;
    if (inWindow.has(node.id) && isNothingButBound(scene, node)) continue;
    yield { law, detail: nodeLine(node) };
  }
}

function nodeLine({ index, message }: Node): string {
  return `message ${index} (${message.role}): ${messageLine(message)}`;
}

/** A message that has nothing to send: all of it is reasoning that lost its prefix, or that a record shortens. */
function isNothingButBound(
  { plan, context, recordOf }: Scene,
  { id, index, message }: Node,
): boolean {
  const shortened = recordOf.has(id) || plan.hides.some((hide) => hide.id === id);
  const unbound = context.rules.bindsReasoning && !holdsReasoning(plan, index);
  return message.parts.every(
    (part) => part.kind === 'reasoning' && (shortened || (unbound && part.signature !== undefined)),
  );
}

/**
 * Pins, system messages, the newest user message and what a codec could not read are shown whole. They are squeezed
 * only if nothing else was left to be taken away, and then a record says so.
 */
export function* pinsWhole(scene: Scene): Iterable<Breach> {
  const { window, pins, positionsOf, prompt, pending, recordOf, plan } = scene;
  const law = 'pins whole';
  for (const node of window) {
    if (!pins.has(node.id) || pending.has(node.id) || isNothingButBound(scene, node)) continue;
    const record = recordOf.get(node.id);
    if (takesAway(record)) {
      yield { law, detail: `${record?.kind} took ${nodeLine(node)}` };
      continue;
    }
    if (record !== undefined) {
      if (record.kind !== 'externalize')
        yield { law, detail: `${record.kind} changed ${nodeLine(node)}` };
      else if (isNew(scene, record)) yield* hadTo(scene, node);
      continue;
    }
    for (const position of positionsOf.get(node.id) ?? []) {
      const { source } = prompt.messages[position] as PromptMessage;
      if (source.kind === 'changed' && source.by !== 'stray' && source.by !== 'unsigned')
        yield { law, detail: `${source.by} changed ${nodeLine(node)}` };
    }
  }
  const newest = scene.thread.path().findLast(({ message }) => startsTurn(message));
  if (newest !== undefined && newest.index >= plan.start && !positionsOf.has(newest.id))
    yield { law, detail: `the newest user message ${newest.index} is not shown` };
}

/** True for a record that this plan made: no plan before has it. Another writer may have made the newest of those. */
function isNew({ context, plan }: Scene, record: PlanRecord): boolean {
  const text = JSON.stringify(record);
  return !(context.earlier ?? []).some(
    (before) => before !== plan && before.records.some((each) => JSON.stringify(each) === text),
  );
}

/** What the renderer adds to keep roles in order is known only afterwards: pins may be too much a little earlier. */
const NEARLY_ALL = 0.8;

/** Pins were squeezed because nothing else was left, or because they alone, whole, would fill the budget. */
function* hadTo(scene: Scene, squeezed: Node): Iterable<Breach> {
  const { thread, window, pinnedUnits, positionsOf, recordOf, plan, prompt, context } = scene;
  if (thread.length > plan.threadVersion) return;
  const { counter, limitTokens = Number.POSITIVE_INFINITY } = context;
  const loose = window.find(({ id }) => !pinnedUnits.has(id) && positionsOf.has(id));
  if (loose === undefined) return;
  const made = prompt.messages.filter(
    ({ source }) => source.kind !== 'kept' && source.kind !== 'changed',
  );
  // A pin of reasoning alone has no position left once it is shortened; whole, it has its cost all the same.
  const pinned = window.filter(
    ({ id }) => pinnedUnits.has(id) && (positionsOf.has(id) || recordOf.has(id)),
  );
  const enough = limitTokens * NEARLY_ALL * (context.largePinsShare ?? 1);
  if (costOf([...made, ...pinned], counter) > enough) return;
  const law = 'pins whole';
  const why = `message ${loose.index} is no pin and stays`;
  yield { law, detail: `${why}, but squeezed was ${nodeLine(squeezed)}` };
}

function costOf(shown: readonly { readonly message: Message }[], counter: Counter): number {
  return shown.reduce((sum, { message }) => sum + counter.message(message), 0);
}
