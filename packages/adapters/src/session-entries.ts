import { SESSION_FORMATS, type SessionEntry } from '@bobbin/codecs';

/** The entries of a harness's session, as its session format reads them, without the header. */
export function sessionEntries(format: 'pi' | 'opencode', text: string): readonly SessionEntry[] {
  const known = SESSION_FORMATS.find(({ name }) => name === format);
  return known === undefined ? [] : known.decode(text).entries.slice(1);
}
