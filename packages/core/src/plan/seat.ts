import { isJsonObject, parseJson, type Json, type JsonObject } from '../thread/json.ts';
import {
  resultText,
  withParts,
  type CallPart,
  type ContentPart,
  type Message,
  type Part,
  type ResultPart,
} from '../thread/message.ts';
import { excerpt } from './excerpt.ts';
import type { ClearRecord, ExternalizeRecord, Hide } from './plan.ts';

/** An action that changes a message and leaves it in its seat, so that calls and results stay together. */
export type SeatAction = ClearRecord | ExternalizeRecord | ({ readonly kind: 'hide' } & Hide);

/** The message as the plan shows it. Reasoning is left out: it would not be what was signed. */
export function seated(message: Message, action: SeatAction): Message {
  const parts = message.parts.flatMap((part) => seatedPart(part, action));
  return withParts(message, parts);
}

function seatedPart(part: Part, action: SeatAction): readonly Part[] {
  switch (part.kind) {
    case 'reasoning':
      return [];
    case 'result':
      return [seatedResult(part, action)];
    case 'call':
      return [action.kind === 'externalize' ? shortCall(part, action) : part];
    case 'text':
    case 'image':
    case 'file':
    case 'opaque':
      return action.kind === 'clear' ? [part] : shortContent(part, action);
  }
}

function seatedResult(result: ResultPart, action: SeatAction): ResultPart {
  switch (action.kind) {
    case 'clear':
      return {
        ...result,
        content: [{ kind: 'text', text: clearedPlaceholder(result, fieldsOf(action, result)) }],
      };
    case 'hide':
      return { ...result, content: [{ kind: 'text', text: action.replacement }] };
    case 'externalize':
      return { ...result, content: [{ kind: 'text', text: pointer(resultText(result), action) }] };
  }
}

function shortContent(
  part: ContentPart,
  action: Exclude<SeatAction, ClearRecord>,
): readonly Part[] {
  if (action.kind === 'hide') return [{ kind: 'text', text: action.replacement }];
  return [
    { kind: 'text', text: pointer(part.kind === 'text' ? part.text : `[${part.kind}]`, action) },
  ];
}

/** The arguments stay a JSON object that names every field; only long values are cut. */
function shortCall(call: CallPart, record: ExternalizeRecord): CallPart {
  if (call.args.length <= record.headChars + record.tailChars) return call;
  const args = parseJson(call.args);
  const fields = isJsonObject(args) ? Object.entries(args) : [];
  const share = 1 / Math.max(1, fields.length);
  const short: Record<string, Json> = { externalized: `artifact:${record.artifactId}` };
  for (const [name, value] of fields) short[name] = shortValue(value ?? null, record, share);
  return { ...call, args: JSON.stringify(short) };
}

function shortValue(value: Json, record: ExternalizeRecord, share: number): Json {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const head = Math.floor(record.headChars * share);
  const tail = Math.floor(record.tailChars * share);
  return text.length <= head + tail ? value : excerpt(text, head, tail);
}

/** What stands in for content that was moved to an artifact, with the way to read it back. */
export function pointer(content: string, record: ExternalizeRecord): string {
  const lines = [`[Externalized Content - artifact:${record.artifactId}]`];
  if (record.summary !== '') lines.push(`Summary: ${record.summary}`);
  lines.push(`To retrieve full content, call: read_artifact("${record.artifactId}")`);
  const shown =
    record.headChars + record.tailChars === 0
      ? ''
      : excerpt(content, record.headChars, record.tailChars);
  return shown === '' ? lines.join('\n') : `${lines.join('\n')}\n${shown}`;
}

/** The seed's minimal placeholder: tool, outcome, key data. */
export function clearedPlaceholder(result: ResultPart, fields: JsonObject): string {
  const head = `[${result.tool ?? 'tool'}: ${result.outcome ?? 'done'}, result cleared]`;
  return Object.keys(fields).length === 0 ? head : `${head}\nKey data: ${JSON.stringify(fields)}`;
}

function fieldsOf(record: ClearRecord, result: ResultPart): JsonObject {
  const fields = record.preserved[result.callId];
  return isJsonObject(fields) ? fields : {};
}
