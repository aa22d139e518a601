import { resultText, type Message } from '../message/message.ts';

/** About what the largest result of a message costs: providers put parallel results into one message. */
export function largestResultTokens(message: Message, tokens: number): number {
  let [largest, all] = [0, 0];
  for (const part of message.parts) {
    if (part.kind !== 'result') continue;
    const { length } = resultText(part);
    largest = Math.max(largest, length);
    all += length;
  }
  return all === 0 ? 0 : Math.ceil((tokens * largest) / all);
}
