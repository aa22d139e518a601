import type { Part, ResultPart } from '@bobbin/core';
import {
  isJsonObject,
  resultText,
  sha256,
  type ContentPart,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import { dataUrl, mediaTypeField } from '../wire/data-url.ts';
import type { Place } from '../wire/place.ts';
import { readableParts } from '../wire/readable.ts';
import { decodeContent, encodeContent } from './responses-content.ts';

/** A kind of item that calls a tool: how it is read, and how one with shortened arguments is written. */
interface CallItem {
  /** The fields that become the call; all others are left over. */
  readonly fields: readonly string[];
  readonly decode: (place: Place) => { readonly tool: string; readonly args: string };
  readonly encode: (tool: string, args: Json) => JsonObject;
}

/** A kind of item that answers a call. */
interface OutputItem {
  readonly fields: readonly string[];
  readonly content: (place: Place) => readonly ContentPart[];
  readonly encode: (result: ResultPart) => JsonObject;
  /** What the item cannot say: a message after it does. */
  readonly note?: (result: ResultPart) => string;
}

/** Calls that the host answers with a separate item; functions are the first of them. */
export const CALL_ITEMS: ReadonlyMap<string, CallItem> = new Map(
  Object.entries<CallItem>({
    function_call: {
      fields: ['name', 'arguments'],
      decode: (place) => ({ tool: place.at('name').text(), args: place.at('arguments').text() }),
      encode: (name, args) => ({ name, arguments: argsText(args) }),
    },
    custom_tool_call: {
      fields: ['name', 'input'],
      decode: (place) => ({ tool: place.at('name').text(), args: place.at('input').text() }),
      encode: (name, args) => ({ name, input: argsText(args) }),
    },
    shell_call: builtIn('shell', 'action', (action) => ({
      ...action,
      commands: listOf(action['commands']),
    })),
    local_shell_call: builtIn('local_shell', 'action', (action) => ({
      ...action,
      command: listOf(action['command']),
      env: typeof action['env'] === 'object' ? action['env'] : {},
    })),
    apply_patch_call: builtIn('apply_patch', 'operation', (operation) => operation),
    computer_call: {
      fields: ['action', 'actions'],
      decode: (place) => ({ tool: 'computer', args: jsonText(actionsOf(place.object())) }),
      encode: (_, args) => ({ status: 'completed', ...restoredActions(args as JsonObject) }),
    },
  }),
);

/** A call whose arguments are an object of the API's own shape, which they keep when their long values are cut. */
function builtIn(tool: string, field: string, restore: (args: JsonObject) => JsonObject): CallItem {
  return {
    fields: [field],
    decode: (place) => ({ tool, args: jsonText(place.at(field).object()) }),
    encode: (_, args) => {
      const { externalized: __, ...rest } = args as JsonObject;
      return { status: 'completed', [field]: restore(rest) };
    },
  };
}

function argsText(args: Json): string {
  return typeof args === 'string' ? args : jsonText(args);
}

/** A computer does one action, or several in a batch. */
function actionsOf({ action, actions }: JsonObject): JsonObject {
  return {
    ...(action === undefined ? {} : { action }),
    ...(actions === undefined ? {} : { actions }),
  };
}

/** Actions that were cut have become a text. What they did shows in the screenshot. */
function restoredActions(args: JsonObject): JsonObject {
  const { action, actions } = args;
  if (Array.isArray(actions)) return { actions };
  return { action: isJsonObject(action) ? action : { type: 'screenshot' } };
}

/** A list that was cut has become a text. */
function listOf(value: Json | undefined): Json {
  return typeof value === 'string' ? [value] : (value ?? []);
}

const textOutput: OutputItem = {
  fields: ['output'],
  content: (place) => decodeContent(place.at('output')),
  encode: ({ content }) => ({ output: encodeContent(content, false) }),
};

export const OUTPUT_ITEMS: ReadonlyMap<string, OutputItem> = new Map(
  Object.entries<OutputItem>({
    function_call_output: textOutput,
    custom_tool_call_output: textOutput,
    local_shell_call_output: {
      ...textOutput,
      encode: (result) => ({ output: resultText(result) }),
    },
    apply_patch_call_output: {
      ...textOutput,
      encode: (result) => ({
        status: result.outcome === 'failure' ? 'failed' : 'completed',
        output: resultText(result),
      }),
    },
    shell_call_output: {
      fields: ['output'],
      content: (place) => place.at('output').list().map(shellOutput),
      encode: (result) => ({ output: [writtenShellOutput(result)] }),
    },
    computer_call_output: {
      fields: ['output'],
      content: (place) => [screenshotPart(place.at('output'))],
      encode: ({ content }) => ({ output: writtenScreenshot(content) }),
      note: resultText,
    },
  }),
);

function writtenShellOutput(result: ResultPart): JsonObject {
  const outcome = { type: 'exit', exit_code: result.outcome === 'failure' ? 1 : 0 };
  return { stdout: resultText(result), stderr: '', outcome };
}

function screenshotPart(output: Place): ContentPart {
  const source =
    output.at('image_url').optionalText() ?? output.at('file_id').optionalText() ?? BLANK;
  return { kind: 'image', source, ...mediaTypeField(source) };
}

/** A computer answers with a picture and nothing else: one that was compacted is blank. */
function writtenScreenshot(content: readonly ContentPart[]): JsonObject {
  const source = content.find((part) => part.kind === 'image')?.source ?? BLANK;
  const field = /^(?:data:|https?:)/.test(source) ? 'image_url' : 'file_id';
  return { type: 'computer_screenshot', [field]: source };
}

/** A picture of one black pixel. */
const BLANK =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==';

function shellOutput(place: Place): ContentPart {
  const outcome = place.at('outcome').json();
  const texts = [place.at('stdout').optionalText(), place.at('stderr').optionalText()];
  const said = texts.filter((text) => text !== undefined && text !== '').join('\n');
  return { kind: 'text', text: outcome === null ? said : `${said}\n${jsonText(outcome)}` };
}

/** The fields of an item that say what was called, and the one with what came of it. */
interface ServerItem {
  readonly call: readonly string[];
  readonly result: string;
}

/** Tools that OpenAI runs itself. */
const SERVER_ITEMS: ReadonlyMap<string, ServerItem> = new Map(
  Object.entries({
    web_search_call: { call: ['action'], result: 'results' },
    file_search_call: { call: ['queries'], result: 'results' },
    code_interpreter_call: { call: ['code', 'container_id'], result: 'outputs' },
    image_generation_call: { call: ['revised_prompt', 'action'], result: 'result' },
    mcp_call: { call: ['server_label', 'name', 'arguments'], result: 'output' },
  }),
);

/** The call and the result of an item of a tool that OpenAI ran; undefined for any other item. */
export function decodeServerItem(type: string, place: Place): readonly Part[] | undefined {
  const kind = SERVER_ITEMS.get(type);
  if (kind === undefined) return undefined;
  const wire = place.object();
  const called = Object.fromEntries(
    kind.call.flatMap((name) => (wire[name] === undefined ? [] : [[name, wire[name]]])),
  );
  const args = jsonText(called);
  const tool = type.slice(0, -'_call'.length);
  const callId = place.at('id').optionalText() ?? `${type}:${sha256(args).slice(0, 16)}`;
  const result = wire[kind.result] ?? wire['error'] ?? null;
  const failed = wire['status'] === 'failed' ? { outcome: 'failure' as const } : {};
  return [
    { kind: 'call', callId, tool, args },
    { kind: 'result', callId, tool, ...failed, content: serverContent(type, result) },
  ];
}

function serverContent(type: string, result: Json): readonly ContentPart[] {
  if (result === null) return [];
  if (type === 'image_generation_call' && typeof result === 'string')
    return [{ kind: 'image', source: dataUrl('image/png', result), mediaType: 'image/png' }];
  return readableParts(result);
}
