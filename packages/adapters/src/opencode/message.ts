/** A message of OpenCode: who said it, and its parts. A tool's part holds the call and what came of it. */
export interface OpenCodeMessage {
  info: { id: string; sessionID: string; role: string };
  parts: OpenCodePart[];
}

export interface OpenCodePart {
  type: string;
}

export interface ToolPart extends OpenCodePart {
  readonly callID: string;
  readonly state: { readonly status: string };
}

export function isTool(part: OpenCodePart): part is ToolPart {
  return part.type === 'tool';
}

/** What a part says in its own words. */
export function wordsOf(part: OpenCodePart): string | undefined {
  const { text, prompt } = part as { readonly text?: unknown; readonly prompt?: unknown };
  const said = part.type === 'subtask' ? prompt : text;
  return typeof said === 'string' ? said : undefined;
}

/** True for words that OpenCode did not write itself. */
export function isSpoken(part: OpenCodePart): boolean {
  const { synthetic } = part as { readonly synthetic?: unknown };
  return wordsOf(part) !== undefined && synthetic !== true;
}

export function withOutput(part: ToolPart, output: string | undefined): OpenCodePart {
  if (output === undefined) return part;
  const field = part.state.status === 'error' ? { error: output } : { output };
  const changed: ToolPart = { ...part, state: { ...part.state, ...field } };
  return changed;
}

/** A text without a speaker, as a part of a message. */
export function writtenPart(
  { id, sessionID }: OpenCodeMessage['info'],
  text: string,
  at: number,
): OpenCodePart {
  const part = {
    id: `prt_bobbin_${id}_${at}`,
    sessionID,
    messageID: id,
    type: 'text',
    text,
    synthetic: true,
  };
  return part;
}

const USER_FIELDS = ['sessionID', 'time', 'agent', 'model'];
const ASSISTANT_FIELDS = [
  'sessionID',
  'time',
  'agent',
  'parentID',
  'modelID',
  'providerID',
  'mode',
  'path',
];
const NO_COST = {
  cost: 0,
  tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
};

/**
 * The head of a message without a speaker, made like that of a real one. The outcome of the real one is left out:
 * OpenCode leaves out messages with an error, and counts what each cost.
 */
export function writtenInfo(
  like: OpenCodeMessage['info'],
  role: 'user' | 'assistant',
  id: string,
): OpenCodeMessage['info'] {
  const names = new Set(role === 'user' ? USER_FIELDS : ASSISTANT_FIELDS);
  const fields = Object.entries(like).filter(([name]) => names.has(name));
  const own = role === 'user' ? {} : NO_COST;
  return { ...Object.fromEntries(fields), sessionID: like.sessionID, ...own, id, role };
}
