/** What makes a field, or its value once it is made. */
type LazyValue = { readonly make: () => unknown } | { readonly value: unknown };

/** Gives an object a field of a name, which is made when it is first read. */
type WithField<Name extends string> = <Fields extends object, Value>(
  fields: Fields,
  make: () => Value,
) => Fields & Readonly<Record<Name, Value>>;

/** All objects share the getter of a field: an engine treats those that have getters of their own as dictionaries. */
export function lazyField<Name extends string>(name: Name): WithField<Name> {
  const key = Symbol(name);
  const field: PropertyDescriptor = {
    enumerable: true,
    get(this: Record<symbol, LazyValue>) {
      let made = this[key] as LazyValue;
      if ('make' in made) made = this[key] = { value: made.make() };
      return made.value;
    },
  };
  return <Fields extends object, Value>(fields: Fields, make: () => Value) => {
    Object.defineProperty(fields, key, { value: { make }, writable: true });
    return Object.defineProperty(fields, name, field) as Fields & Readonly<Record<Name, Value>>;
  };
}
