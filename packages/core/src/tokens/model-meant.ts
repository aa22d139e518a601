import { isKnownModel } from './models.ts';

/**
 * ` (did you mean gpt-5?)` if a known model is one typing error away; otherwise nothing. Digits are versions: another
 * digit is not a typing error.
 */
export function modelMeant(model: string): string {
  if (model.length > LONGEST_ID) return '';
  const folder = model.slice(0, model.lastIndexOf('/') + 1);
  for (const id of oneSlipAway(model.slice(folder.length)))
    if (isKnownModel(id)) return ` (did you mean ${folder}${id}?)`;
  return '';
}

/** Every change of a letter is tried. */
const LONGEST_ID = 100;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz.-';

/** Two letters exchanged, one too many, one too few, a wrong one. */
function* oneSlipAway(id: string): Generator<string> {
  for (let i = 1; i < id.length; i++)
    yield id.slice(0, i - 1) + id.charAt(i) + id.charAt(i - 1) + id.slice(i + 1);
  for (let i = 0; i < id.length; i++)
    if (!/\d/.test(id.charAt(i))) yield id.slice(0, i) + id.slice(i + 1);
  for (let i = 0; i < id.length; i++)
    for (const letter of LETTERS) yield id.slice(0, i) + letter + id.slice(i);
  for (let i = 0; i < id.length; i++)
    if (!/\d/.test(id.charAt(i)))
      for (const letter of LETTERS) yield id.slice(0, i) + letter + id.slice(i + 1);
}
