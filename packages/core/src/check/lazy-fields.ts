/** What makes each field, replaced by the field's value once it is made. */
type Makers = Record<string, { make?: (() => unknown) | undefined; value?: unknown }>;

const MAKERS = Symbol('makers');

interface Holder {
  readonly [MAKERS]: Makers;
}

const descriptors = new Map<string, PropertyDescriptor>();

/** All objects share the getter of a name: an engine treats those that have getters of their own as dictionaries. */
function descriptorOf(name: string): PropertyDescriptor {
  let descriptor = descriptors.get(name);
  if (descriptor === undefined) {
    descriptor = {
      enumerable: true,
      get(this: Holder) {
        const field = this[MAKERS][name] as Makers[string];
        if (field.make !== undefined) [field.value, field.make] = [field.make(), undefined];
        return field.value;
      },
    };
    descriptors.set(name, descriptor);
  }
  return descriptor;
}

/** Gives an object further fields, each of which is made when it is first read. */
export function withLazyFields<Fields extends object, Lazy extends object>(
  fields: Fields,
  makers: { readonly [Name in keyof Lazy]: () => Lazy[Name] },
): Fields & Lazy {
  const held: Makers = {};
  Object.defineProperty(fields, MAKERS, { value: held });
  for (const [name, make] of Object.entries(makers) as [string, () => unknown][]) {
    held[name] = { make };
    Object.defineProperty(fields, name, descriptorOf(name));
  }
  return fields as Fields & Lazy;
}
