import { isJsonObject, type Json, type JsonObject } from '@bobbin/core/internal';

/** A call whose arguments are not what the tool takes: reported to the model, which can correct it. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

/** The arguments of a call, read by name; what is wrong is said with its name. */
export class Arguments {
  /** All of them as they came, for a tool that checks them itself. */
  readonly values: JsonObject;

  constructor(values: Json | undefined) {
    if (!isJsonObject(values)) throw new ArgumentError('the arguments are no JSON object');
    this.values = values;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new ArgumentError(`${name} is missing`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.values[name] ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    throw new ArgumentError(`${name} must be a string`);
  }

  optionalCount(name: string): number | undefined {
    const value = this.values[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    throw new ArgumentError(`${name} must be a whole number of at least 0`);
  }

  flag(name: string): boolean {
    const value = this.values[name] ?? false;
    if (typeof value === 'boolean') return value;
    throw new ArgumentError(`${name} must be true or false`);
  }
}
