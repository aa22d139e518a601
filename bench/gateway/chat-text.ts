// Messages of a replay, and what they cost at four characters a token.

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export function textOf({ content, tool_calls: calls = [] }: ChatMessage): string {
  return (
    content + calls.map((call) => `\n${call.function.name} ${call.function.arguments}`).join('')
  );
}
export const text = (messages: readonly ChatMessage[]): string => messages.map(textOf).join('\n');
export const tokens = (message: ChatMessage): number => Math.ceil(textOf(message).length / 4) + 4;
export const size = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, message) => sum + tokens(message), 0);

/** The longest beginning that two lists share. */
export function sharedStart(before: readonly string[], now: readonly string[]): number {
  let same = 0;
  while (same < before.length && same < now.length && before[same] === now[same]) same++;
  return same;
}
