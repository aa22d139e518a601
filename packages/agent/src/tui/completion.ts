import {
  CombinedAutocompleteProvider,
  type AutocompleteItem,
  type AutocompleteSuggestions,
  type SlashCommand,
} from '@earendil-works/pi-tui';
import { basename } from 'node:path';
import { MENTIONED } from '../input/mention-word.ts';
import { projectFiles } from '../tools/project-files.ts';
import { visible } from './printable.ts';

type Place = Parameters<CombinedAutocompleteProvider['getSuggestions']>;

const MOST_FILES = 20;
const BEGUN = new RegExp(String.raw`(?:^|\s)(@(${MENTIONED}*))$`);
const MENTIONABLE = new RegExp(`^${MENTIONED}+$`);

/** Completes commands, paths and mentions. A file whose name holds what cannot be seen is not offered: it would drive the terminal. */
export class Completion extends CombinedAutocompleteProvider {
  readonly #project: string;

  constructor(commands: readonly SlashCommand[], project: string) {
    super([...commands], project);
    this.#project = project;
  }

  override async getSuggestions(...place: Place): Promise<AutocompleteSuggestions | null> {
    const [lines, line, column, { signal }] = place;
    const [, prefix, begun = ''] = BEGUN.exec(lines[line]?.slice(0, column) ?? '') ?? [];
    const found =
      prefix === undefined
        ? await super.getSuggestions(...place)
        : { prefix, items: mentionsOf(begun, await projectFiles(this.#project, signal)) };
    const items = found?.items.filter(({ value }) => visible(value) === value) ?? [];
    return found === null || items.length === 0 ? null : { ...found, items };
  }
}

/** The files that a mention may mean: first those whose path begins so, then whose name does, then whose path holds it. */
function mentionsOf(begun: string, files: readonly string[]): AutocompleteItem[] {
  // A whole name is done: Enter sends the message.
  if (files.includes(begun)) return [];
  const wanted = begun.toLowerCase();
  const rankOf = (file: string): number => {
    const path = file.toLowerCase();
    if (path.startsWith(wanted)) return 0;
    return basename(path).startsWith(wanted) ? 1 : 2;
  };
  return files
    .filter((file) => file.toLowerCase().includes(wanted) && MENTIONABLE.test(file))
    .map((file) => ({ file, rank: rankOf(file) }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MOST_FILES)
    .map(({ file }) => ({ value: `@${file}`, label: file }));
}
