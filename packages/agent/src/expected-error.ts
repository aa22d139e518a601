/** Something that can be expected to go wrong, in words for a person: a wrong call, an unusable model, a broken file. */
export class ExpectedError extends Error {
  override readonly name: string = 'ExpectedError';
}
