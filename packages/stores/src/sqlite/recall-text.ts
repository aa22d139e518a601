import { hash } from 'node:crypto';
import type { Message } from '@bobbin/core';
import { searchText, wordsOf, type ThreadKey } from '@bobbin/core/internal';

/** A message's words as the index keeps them, each with the mark of its thread: the words of others count for nothing. */
export function indexedWords(key: ThreadKey, message: string): string {
  const marks = new Map<string, string>();
  return wordsIn(message)
    .map((word) => {
      const mark = marks.get(word) ?? indexedWord(key, word);
      marks.set(word, mark);
      return mark;
    })
    .join(' ');
}

/** A word of a thread as the index keeps it: a text that no tokenizer changes. */
export function indexedWord({ tenant, thread }: ThreadKey, word: string): string {
  return hash('sha1', `${tenant}\0${thread}\0${word}`, 'hex').slice(0, 16);
}

export function wordCount(message: string): number {
  return wordsIn(message).length;
}

function wordsIn(message: string): readonly string[] {
  return wordsOf(searchText(JSON.parse(message) as Message));
}
