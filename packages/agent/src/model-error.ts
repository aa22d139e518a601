/** A model that cannot be used, in words for a person. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
