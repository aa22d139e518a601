import { isJsonObject, type Budget, type Counter, type Json } from '@bobbin/core';

/**
 * What a request holds beside its messages, measured when it changes and not at each step. Most of what providers count
 * is often here: tens of thousands of tokens of instructions and tool schemas.
 */
export class RequestSize {
  #known:
    | { readonly name: string; readonly text: string; readonly tokens: Partial<Budget> }
    | undefined;

  measure(counter: Counter, system: string, tools: Json): Partial<Budget> {
    const text = `${system}\n${JSON.stringify(tools)}`;
    const { name } = counter;
    if (this.#known?.name === name && this.#known.text === text) return this.#known.tokens;
    const hasTools = !Array.isArray(tools) || tools.length > 0;
    const tokens = {
      systemTokens: counter.text(system),
      toolTokens: hasTools ? counter.tools(tools) : 0,
    };
    this.#known = { name, text, tokens };
    return tokens;
  }
}

/** A tool as a provider reads it: name, description, JSON schema where it can be had. */
export function toolAsSent(name: string, description: unknown, schema: unknown): Json {
  return {
    name,
    description: typeof description === 'string' ? description : '',
    parameters: jsonSchemaOf(schema),
  };
}

interface SchemaForms {
  readonly jsonSchema?: unknown;
  readonly '~standard'?: { readonly jsonSchema?: { readonly input?: (of: object) => unknown } };
}

/**
 * The AI SDK's own schemas, lazy ones, those that follow the JSON part of Standard Schema (Zod, Valibot, ArkType), and
 * JSON schemas as they are.
 */
function jsonSchemaOf(schema: unknown): Json {
  const form = (typeof schema === 'function' ? (schema as () => unknown)() : schema) as
    | SchemaForms
    | undefined;
  if (isJsonObject(form?.jsonSchema)) return form.jsonSchema;
  const standard = form?.['~standard'];
  if (standard === undefined) return isJsonObject(form) ? form : {};
  const found = standard.jsonSchema?.input?.({ target: 'draft-07' });
  return isJsonObject(found) ? found : {};
}
