import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';

/** The objects of a list in a request; anything else in it counts as an empty object. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: Json) => (isJsonObject(item) ? item : {})) : [];
}

/** What all providers ask of a request. */
export function commonProblem(body: JsonObject, listName: string): string | undefined {
  if (typeof body['model'] !== 'string' || body['model'] === '') return 'model: is required';
  const items = body[listName];
  if (!Array.isArray(items) || items.length === 0) return `${listName}: at least one is required`;
  const { temperature } = body;
  if (
    temperature !== undefined &&
    (typeof temperature !== 'number' || temperature < 0 || temperature > 2)
  )
    return 'temperature: must be between 0 and 2';
  return undefined;
}

/** Strict structured output takes a schema only if every object names all its fields and admits no others. */
export function strictSchemaProblem(
  schema: Json | undefined,
  at: string = 'schema',
): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const properties = schema['properties'];
  if (isJsonObject(properties)) {
    if (schema['additionalProperties'] !== false)
      return `${at}: additionalProperties must be false`;
    const required = schema['required'];
    for (const [name, inner] of Object.entries(properties)) {
      if (!Array.isArray(required) || !required.includes(name))
        return `${at}: ${name} must be required`;
      const problem = strictSchemaProblem(inner, `${at}.${name}`);
      if (problem !== undefined) return problem;
    }
  }
  return strictSchemaProblem(schema['items'], `${at}[]`);
}
