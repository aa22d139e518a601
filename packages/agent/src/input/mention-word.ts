/** A character of what a mention names, for a pattern: blanks end it, and what parts or closes a sentence. */
export const MENTIONED: string = String.raw`[^\s,;:!?'"()]`;
