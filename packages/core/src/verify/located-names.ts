import { callsOf, resultsOf, resultText, textOf, type MessageId } from '../message/message.ts';
import { touchedBy } from '../extract/anchors/tool-effects.ts';
import { nameOf } from '../summary/file-texts.ts';
import type { Node } from '../thread/thread.ts';
import { fileNamesIn } from './paths.ts';

/** A name that programs have and prose has not: `parseLine`, `max_rows`. */
const CODE_NAME =
  /(?<![\w/-])(?=\w*[a-z][A-Z]|\w*[A-Za-z]_[A-Za-z])[A-Za-z_]\w{4,}(?![\w/]|\.[a-z]{1,4}\b)/g;

const WORD = /\w{5,}/g;

/** The names of code in a text. */
export const codeNamesIn = (text: string): ReadonlySet<string> =>
  new Set(text.match(CODE_NAME) ?? []);

/** Where something is said. */
export interface Place {
  /** The message that holds it; undefined for what an earlier summary says. */
  readonly id: MessageId | undefined;
  /** The index of that message. */
  readonly at: number | undefined;
}

/** In which files the messages have some names of code. The work is linear in the messages. */
export class LocatedNames {
  /** The files of a name, each with the last message that has the name there. */
  readonly #files = new Map<string, Map<string, Place>>();
  /** The files that are named in the same texts as a name: it may be in any of them. */
  readonly #around = new Map<string, ReadonlySet<string>[]>();
  /** The files that calls read or change. */
  readonly shown: Set<string> = new Set();

  constructor(names: ReadonlySet<string>, nodes: readonly Node[]) {
    for (const name of names) {
      this.#files.set(name, new Map());
      this.#around.set(name, []);
    }
    const calls = new Map<string, { readonly args: string; readonly own: readonly string[] }>();
    for (const { message, id, index: at } of nodes) {
      const place = { id, at };
      this.#read(textOf(message), [], place);
      for (const call of callsOf(message)) {
        const own = [...new Set(touchedBy(call).touches.map(({ path }) => nameOf(path)))];
        const args = call.args.replace(/\\[nrt]/g, '\n');
        calls.set(call.callId, { args, own });
        for (const file of own) this.shown.add(file);
        this.#read(args, own, place);
      }
      for (const result of resultsOf(message)) {
        const { args, own } = calls.get(result.callId) ?? { args: '', own: [] };
        this.#read(
          own.length > 0 ? resultText(result) : `${args}\n${resultText(result)}`,
          own,
          place,
        );
      }
    }
  }

  /** The files in which a name is. */
  filesOf(name: string): ReadonlyMap<string, Place> {
    return this.#files.get(name) ?? NOWHERE;
  }

  mayBeIn(name: string, file: string): boolean {
    const around = this.#around.get(name) ?? [];
    return this.filesOf(name).has(file) || around.some((files) => files.has(file));
  }

  /** What a call does to a file, and what comes back, is about that file; any other text about all that it names. */
  #read(text: string, owners: readonly string[], place: Place): void {
    const named = new Set<string>();
    const names = new Set<string>();
    for (const line of text.split('\n')) {
      const inLine = (line.match(WORD) ?? []).filter((word) => this.#files.has(word));
      const files = owners.length > 0 && inLine.length === 0 ? [] : fileNamesIn(line);
      for (const file of files) {
        named.add(file);
        for (const name of inLine) this.#files.get(name)?.set(file, place);
      }
      for (const name of inLine) names.add(name);
    }
    for (const name of names) {
      for (const file of owners) this.#files.get(name)?.set(file, place);
      if (owners.length === 0) this.#around.get(name)?.push(named);
    }
  }
}

const NOWHERE: ReadonlyMap<string, Place> = new Map();
