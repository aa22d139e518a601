import { sorted } from '../check/list.ts';
import { isJsonObject, type Json, type JsonObject, jsonText, parseJson } from '../message/json.ts';
import {
  type CallPart,
  type ContentPart,
  isSentMedia,
  type Message,
  type Part,
  type ResultPart,
  textMessage,
  type TextPart,
  withParts,
} from '../message/message.ts';
import type { Action } from '../plan/actions.ts';
import { withoutUnchangedLines } from './edit-text.ts';
import { cutValue, excerpt, partText } from './excerpt.ts';
import { shortArgs } from './short-args.ts';
import type {
  ClearRecord,
  ExternalizeRecord,
  Hide,
  PlanRecord,
  RenderStyle,
  Stretch,
  SummarizeRecord,
} from '../plan/plan.ts';

/** What of the style decides how a record is shown in place. */
type Shows = Pick<RenderStyle, 'offersReadArtifact'>;

/** An action that changes a message and leaves it in its place, so that calls and results stay together. */
export type InPlaceRecord = ClearRecord | ExternalizeRecord | ({ readonly kind: 'hide' } & Hide);

/** The message as the plan shows it. Reasoning is left out unless the record keeps it. */
export function inPlace(message: Message, action: InPlaceRecord, style: Shows): Message {
  if (action.kind === 'hide') return withParts(message, hiddenParts(message.parts, action));
  if (action.kind === 'externalize' && action.withoutMedia === true)
    return withParts(
      message,
      message.parts.map((part) => withoutMedia(part, action, style)),
    );
  const parts = message.parts.flatMap((part, i) => {
    const kept = action.kind === 'externalize' ? (action.kept[i] ?? []) : [];
    return inPlacePart(part, action, kept, style);
  });
  return withParts(message, parts);
}

/** What the results of a hidden message say after its first part, which has the replacement. */
const HIDDEN_TOO = '[Hidden]';

/** The replacement once, in the first part that can show it; results stay for the sake of their calls. */
function hiddenParts(parts: readonly Part[], { replacement }: Hide): readonly Part[] {
  let isShown = false;
  return parts.flatMap((part): readonly Part[] => {
    if (part.kind === 'call') return [part];
    if (part.kind === 'reasoning' || (isShown && part.kind !== 'result')) return [];
    const content = { kind: 'text', text: isShown ? HIDDEN_TOO : replacement } as const;
    isShown = true;
    return [part.kind === 'result' ? { ...part, content: [content] } : content];
  });
}

/** A record that shortens what a message shows. */
type Shortening = Exclude<InPlaceRecord, { readonly kind: 'hide' }>;

/** The part, with a pointer in the place of each picture and file. */
function withoutMedia(part: Part, record: ExternalizeRecord, style: Shows): Part {
  const pointing = <P extends Part>(each: P): P | TextPart =>
    isSentMedia(each) ? { kind: 'text', text: pointer('', record, style) } : each;
  return part.kind === 'result' ? { ...part, content: part.content.map(pointing) } : pointing(part);
}

function inPlacePart(
  part: Part,
  action: Shortening,
  kept: readonly Stretch[],
  style: Shows,
): readonly Part[] {
  switch (part.kind) {
    case 'reasoning':
      return action.kind === 'externalize' && action.keepsReasoning === true ? [part] : [];
    case 'result':
      return [inPlaceResult(part, action, kept, style)];
    case 'call':
      return [action.kind === 'externalize' ? shortCall(part, action, kept, style) : part];
    case 'text':
    case 'image':
    case 'file':
    case 'opaque':
      return action.kind === 'clear' ? [part] : [shortContent(part, action, kept, style)];
  }
}

function inPlaceResult(
  result: ResultPart,
  action: Shortening,
  kept: readonly Stretch[],
  style: Shows,
): ResultPart {
  switch (action.kind) {
    case 'clear':
      return {
        ...result,
        content: [{ kind: 'text', text: clearedPlaceholder(result, fieldsOf(action, result)) }],
      };
    case 'externalize':
      if (isWhole(partText(result), kept)) return result;
      return {
        ...result,
        content: [
          {
            kind: 'text',
            text: pointer(partText(result), action, style, kept) + keyData(action, result),
          },
        ],
      };
  }
}

function shortContent(
  part: ContentPart,
  action: ExternalizeRecord,
  kept: readonly Stretch[],
  style: Shows,
): Part {
  if (part.kind === 'text' && isWhole(part.text, kept)) return part;
  return { kind: 'text', text: pointer(partText(part), action, style, kept) };
}

function isWhole(text: string, kept: readonly Stretch[]): boolean {
  const [first] = kept;
  return first !== undefined && first[0] <= 0 && first[1] >= text.length;
}

/** Arguments keep their keys; only long values are cut. */
function shortCall(
  call: CallPart,
  record: ExternalizeRecord,
  kept: readonly Stretch[],
  style: Shows,
): CallPart {
  if (call.args.length <= record.argsChars) return call;
  if (record.trimmed === true)
    return { ...call, args: shortArgs(call.args, kept, wayBack(record, style)) };
  const fields = fieldsOfCall(call);
  const where = record.unstored === true ? leftOut(style) : `artifact:${record.artifactId}`;
  const short: Record<string, Json> = { externalized: where };
  const cut = fields.filter((field) => !isPath(field, record.argsChars));
  const space = fairShare(
    cut.map(({ name, text }) =>
      Math.min(text.length, TAKES_AWAY.test(name) ? OLD_CHARS : Infinity),
    ),
    record.argsChars,
  );
  const before = fields.find(({ name }) => TAKES_AWAY.test(name))?.text ?? '';
  for (const field of fields) {
    const { name, value, text } = field;
    const most = TAKES_AWAY.test(name) ? Math.min(space, OLD_CHARS) : space;
    const isShown = text.length <= most || isPath(field, record.argsChars);
    const said = PUTS_THERE.test(name) ? withoutUnchangedLines(before, text) : text;
    short[name] = isShown ? value : cutValue(said, most);
  }
  return { ...call, args: jsonText(short) };
}

const PATH = /^(?:file_?path|path|notebook_path|filename|file)$/i;
const LONGEST_PATH = 200;
/** What an edit takes away says less than what it puts there. */
const TAKES_AWAY = /^old_?(?:str(?:ing)?|text)$/i;
const PUTS_THERE = /^new_?(?:str(?:ing)?|text)$/i;
const OLD_CHARS = 60;

/** A call without the path of its file says nothing. */
function isPath({ name, text }: Field, argsChars: number): boolean {
  return argsChars > 0 && PATH.test(name) && text.length <= LONGEST_PATH;
}

function wayBack(record: ExternalizeRecord, { offersReadArtifact }: Shows): string {
  const isOffered = offersReadArtifact === true && record.unstored !== true;
  return isOffered ? `: read_artifact("${record.artifactId}")` : '';
}

/** What was stored nowhere else is in the thread. */
function leftOut({ offersReadArtifact }: Shows): string {
  return offersReadArtifact === true ? 'Left Out - recall finds it' : 'Left Out';
}

/** An argument of a call, and the text that it is shown as. */
interface Field {
  readonly name: string;
  readonly value: Json;
  readonly text: string;
}

const fieldsOfCalls = new WeakMap<CallPart, readonly Field[]>();

/** Arguments are read once: a size that fits is found by trying many. */
function fieldsOfCall(call: CallPart): readonly Field[] {
  let fields = fieldsOfCalls.get(call);
  if (fields === undefined) {
    const args = parseJson(call.args);
    fields = Object.entries(isJsonObject(args) ? args : {}).map(([name, value = null]) => {
      const text = typeof value === 'string' ? value : jsonText(value);
      return { name, value, text };
    });
    fieldsOfCalls.set(call, fields);
  }
  return fields;
}

/** The most that each of some lengths may have so that all fit together: what short ones do not need, long ones get. */
function fairShare(lengths: readonly number[], total: number): number {
  let left = total;
  let rest = lengths.length;
  for (const length of sorted(lengths, (a, b) => a - b)) {
    if (length * rest > left) return Math.floor(left / rest);
    left -= length;
    rest -= 1;
  }
  return total;
}

/** The replacement for content that was moved to an artifact, with the way to read it back. */
function pointer(
  content: string,
  record: ExternalizeRecord,
  style: Shows,
  kept: readonly Stretch[] = [],
): string {
  const shown = excerpt(content, kept);
  if (record.trimmed === true)
    return `[${content.length} characters, cut${wayBack(record, style)}]\n${shown}`;
  const isStored = record.unstored !== true;
  const isOffered = isStored && style.offersReadArtifact === true;
  const head = isStored
    ? `[Externalized Content - artifact:${record.artifactId}]`
    : `[Content ${leftOut(style)}]`;
  if (shown !== '') {
    const all = isOffered ? 'read_artifact has all' : 'excerpt of';
    return `${head} ${all} ${content.length} characters:\n${shown}`;
  }
  const lines = [head];
  if (record.summary !== '') lines.push(`Summary: ${record.summary}`);
  if (isOffered)
    lines.push(`To retrieve full content, call: read_artifact("${record.artifactId}")`);
  return lines.join('\n');
}

/** Fields that always stay. */
function keyData({ preserved = {} }: ExternalizeRecord, { callId }: ResultPart): string {
  const fields = preserved[callId];
  return isJsonObject(fields) ? `\nKey data: ${jsonText(fields)}` : '';
}

/** The seed's minimal placeholder: tool, outcome, key data. */
export function clearedPlaceholder(result: ResultPart, fields: JsonObject): string {
  const head = `[${result.tool ?? 'tool'}: ${result.outcome ?? 'done'}, result cleared]`;
  return Object.keys(fields).length === 0 ? head : `${head}\nKey data: ${jsonText(fields)}`;
}

function fieldsOf(record: ClearRecord, result: ResultPart): JsonObject {
  const fields = record.preserved[result.callId];
  return isJsonObject(fields) ? fields : {};
}

/** True for a record that leaves its messages in their places. */
export function isInPlace(action: Action): action is InPlaceRecord {
  if (action.kind === 'externalize') return action.span.ids.length === 1;
  return action.kind === 'clear' || action.kind === 'hide';
}

/** Comes before a summary's shadow, so that user and assistant alternate. */
const SHADOW = 'Summarize the conversation so far, so that the work can go on from it.';

/** The messages that replace a summarised span; none if there was no space for any of it. */
export function summaryMessages(
  record: Pick<SummarizeRecord, 'summary' | 'text'>,
  style: RenderStyle,
): readonly Message[] {
  if (record.text === '') return [];
  const prefix = style.summaryPrefix
    .replaceAll('{first}', String(record.summary.firstTurn))
    .replaceAll('{last}', String(record.summary.lastTurn))
    .replaceAll('{round}', String(record.summary.round));
  const text = `${prefix}\n${record.text}`;
  const synthetic = { synthetic: true };
  switch (style.summaryRole) {
    case 'assistant':
    case 'user':
      return [textMessage(style.summaryRole, text, synthetic)];
    case 'pair':
      return [
        textMessage('user', style.shadowPrompt ?? SHADOW, synthetic),
        textMessage('assistant', text, synthetic),
      ];
  }
}

/** The messages that a record adds; one that changes its message in place adds none. */
export function standIns(record: PlanRecord, style: RenderStyle): readonly Message[] {
  switch (record.kind) {
    case 'summarize':
      return summaryMessages(record, style);
    case 'externalize':
      return isInPlace(record)
        ? []
        : [textMessage('assistant', pointer('', record, style), { synthetic: true })];
    case 'drop':
    case 'clear':
      return [];
  }
}
