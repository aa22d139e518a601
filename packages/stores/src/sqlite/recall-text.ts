import { hash } from 'node:crypto';
import type { Message } from '@bobbin/core';
import { searchText, wordsOf, type ThreadKey } from '@bobbin/core/internal';

/** A message's words as the index keeps them, each with the mark of its thread, and how many they are. */
export function indexedWords(key: ThreadKey, message: Message): { text: string; count: number } {
  const words = wordsOf(searchText(message));
  const marks = new Map<string, string>();
  const marked = words.map((word) => {
    const mark = marks.get(word) ?? indexedWord(key, word);
    marks.set(word, mark);
    return mark;
  });
  return { text: marked.join(' '), count: words.length };
}

/** A word of a thread as the index keeps it: a text that no tokenizer changes. */
export function indexedWord({ tenant, thread }: ThreadKey, word: string): string {
  return hash('sha1', `${tenant}\0${thread}\0${word}`, 'hex').slice(0, 16);
}
