import { CombinedAutocompleteProvider, type AutocompleteSuggestions } from '@earendil-works/pi-tui';
import { visible } from './printable.ts';

type Place = Parameters<CombinedAutocompleteProvider['getSuggestions']>;

/** Completes commands and paths. A file whose name holds what cannot be seen is not offered: it would drive the terminal. */
export class Completion extends CombinedAutocompleteProvider {
  override async getSuggestions(...place: Place): Promise<AutocompleteSuggestions | null> {
    const found = await super.getSuggestions(...place);
    const items = found?.items.filter(({ value }) => visible(value) === value) ?? [];
    return found === null || items.length === 0 ? null : { ...found, items };
  }
}
