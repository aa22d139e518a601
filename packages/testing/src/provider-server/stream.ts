import type { JsonObject } from '@bobbin/core/internal';
import { objectsIn } from './rules.ts';

/** An answer of Anthropic's Messages API as the events of a stream. */
export function anthropicEvents(answer: JsonObject): string {
  const { content, stop_reason, stop_sequence, usage, ...head } = answer;
  const started = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
  const blocks = objectsIn(content).flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: emptied(block) },
    { type: 'content_block_delta', index, delta: anthropicDelta(block) },
    { type: 'content_block_stop', index },
  ]);
  const events = [
    { type: 'message_start', message: started },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function emptied(block: JsonObject): JsonObject {
  if (block['type'] === 'compaction') return { ...block, content: null };
  return block['type'] === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
}

function anthropicDelta(block: JsonObject): JsonObject {
  if (block['type'] === 'compaction') return { ...block, type: 'compaction_delta' };
  return block['type'] === 'text'
    ? { type: 'text_delta', text: block['text'] }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) };
}

/** A completion of OpenAI's Chat API as the chunks of a stream. */
export function chatChunks(answer: JsonObject): string {
  const { choices, usage, ...rest } = answer;
  const [choice = {}] = objectsIn(choices);
  const { message, finish_reason } = choice;
  const head = { ...rest, object: 'chat.completion.chunk' };
  const calls = objectsIn((message as JsonObject)['tool_calls']);
  const delta = {
    ...(message as JsonObject),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
  };
  return data(
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...head, choices: [], usage },
    '[DONE]',
  );
}

/** A response of OpenAI's Responses API as the events of a stream. */
export function responseEvents(answer: JsonObject): string {
  const items = objectsIn(answer['output']).flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: unsaid(item) },
    ...itemEvents(item, output_index),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const isWhole = answer['status'] === 'completed';
  const started = { ...answer, output: [], status: 'in_progress', usage: null };
  const events = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...items,
    { type: isWhole ? 'response.completed' : 'response.incomplete', response: answer },
  ];
  return data(...events.map((event, sequence_number) => ({ ...event, sequence_number })));
}

function unsaid(item: JsonObject): JsonObject {
  if (item['type'] === 'compaction') return item;
  return item['type'] === 'message' ? { ...item, content: [] } : { ...item, arguments: '' };
}

function itemEvents(item: JsonObject, output_index: number): readonly JsonObject[] {
  const { id: item_id, type, arguments: args } = item;
  const at = { item_id, output_index };
  if (type === 'function_call')
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: args },
      { type: 'response.function_call_arguments.done', ...at, arguments: args },
    ];
  return objectsIn(item['content']).flatMap((part, content_index) =>
    partEvents(part, { ...at, content_index }),
  );
}

function partEvents(part: JsonObject, at: JsonObject): readonly JsonObject[] {
  const isText = part['type'] === 'output_text';
  const name = isText ? 'output_text' : 'refusal';
  const said = isText ? part['text'] : part['refusal'];
  const empty = isText ? { ...part, text: '' } : { ...part, refusal: '' };
  const done = isText ? { text: said } : { refusal: said };
  return [
    { type: 'response.content_part.added', ...at, part: empty },
    { type: `response.${name}.delta`, ...at, delta: said },
    { type: `response.${name}.done`, ...at, ...done },
    { type: 'response.content_part.done', ...at, part },
  ];
}

function data(...events: readonly (JsonObject | string)[]): string {
  return events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('');
}
