/** What makes a field, or its value once it is made. */
type Made = { readonly make: () => unknown } | { readonly value: unknown };

/**
 * Gives objects a field of a name that is made when it is first read. All objects share the getter of the field: an
 * engine treats those that have getters of their own as dictionaries.
 */
export function lazyField<Name extends string>(
  name: Name,
): <Fields extends object, Value>(
  fields: Fields,
  make: () => Value,
) => Fields & Readonly<Record<Name, Value>> {
  const key = Symbol(name);
  const field: PropertyDescriptor = {
    enumerable: true,
    get(this: Record<symbol, Made>) {
      let made = this[key] as Made;
      if ('make' in made) made = this[key] = { value: made.make() };
      return made.value;
    },
  };
  return <Fields extends object, Value>(fields: Fields, make: () => Value) => {
    Object.defineProperty(fields, key, { value: { make }, writable: true });
    return Object.defineProperty(fields, name, field) as Fields & Readonly<Record<Name, Value>>;
  };
}
