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

/** The tools of a set as a provider reads them: name, description, JSON schema where it can be had. */
export function toolsAsSent(tools: Readonly<Record<string, object>>): Json {
  return Object.entries(tools).map(([name, tool]) => {
    const { description, inputSchema } = tool as {
      readonly description?: unknown;
      readonly inputSchema?: unknown;
    };
    return {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: jsonSchemaOf(inputSchema),
    };
  });
}

interface SchemaForms {
  readonly jsonSchema?: unknown;
  readonly '~standard'?: { readonly jsonSchema?: { readonly input?: (of: object) => unknown } };
}

/** The AI SDK's own schemas, lazy ones, and those that follow the JSON part of Standard Schema (Zod, Valibot, ArkType). */
function jsonSchemaOf(schema: unknown): Json {
  const form = (typeof schema === 'function' ? (schema as () => unknown)() : schema) as
    | SchemaForms
    | undefined;
  if (isJsonObject(form?.jsonSchema)) return form.jsonSchema;
  const found = form?.['~standard']?.jsonSchema?.input?.({ target: 'draft-07' });
  return isJsonObject(found) ? found : {};
}
