import { jsonText, type Json, type JsonObject } from '../message/json.ts';
import type { Budget } from './budget.ts';
import type { Counter } from './counter.ts';

/**
 * What a request holds in addition to its messages, measured when it changes and not at each step. Most of what
 * providers count is often here: tens of thousands of tokens of instructions and tool schemas.
 */
export class RequestSize {
  #known:
    | { readonly name: string; readonly text: string; readonly tokens: Partial<Budget> }
    | undefined;

  measure(counter: Counter, system: string, tools: Json): Partial<Budget> {
    const text = `${system}\n${jsonText(tools)}`;
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

/** A tool as a provider reads it: name, description, JSON schema. */
export function toolAsSent(name: string, description: unknown, schema: object): Json {
  return {
    name,
    description: typeof description === 'string' ? description : '',
    parameters: schema as JsonObject,
  };
}
