import type { CompactionEvent, Plan } from '@bobbin/core';
import { isJsonObject, parseJson, PLAN_FORMAT, type Json } from '@bobbin/core/internal';
import { StoreError } from './store-error.ts';

/** A plan from the text that a store keeps; `where` names the store and the thread in an error. */
export function planOf(text: string, where: string, version: number): Plan {
  const plan = parseJson(text);
  if (!isPlan(plan)) throw new StoreError('damaged', `${where}: plan ${version} is no plan`);
  return knownPlan(plan as unknown as Plan, where, version);
}

/** A plan whose format this Bobbin knows. */
export function knownPlan(plan: Plan, where: string, version: number): Plan {
  if (plan.format <= PLAN_FORMAT) return plan;
  throw new StoreError(
    'from-the-future',
    `${where}: plan ${version} has format ${plan.format}; this Bobbin knows formats up to ${PLAN_FORMAT}: update it`,
  );
}

/** An event from the text that a store keeps. */
export function eventOf(text: string, where: string, sequence: number): CompactionEvent {
  const event = parseJson(text);
  if (!isEvent(event)) throw new StoreError('damaged', `${where}: event ${sequence} is no event`);
  return event as unknown as CompactionEvent;
}

export function isEvent(value: Json | undefined): boolean {
  return isJsonObject(value) && typeof value['kind'] === 'string';
}

/** True if a value has what every reader of a plan relies on. */
export function isPlan(value: Json | undefined): boolean {
  return (
    isJsonObject(value) &&
    (value['head'] === null || typeof value['head'] === 'string') &&
    ['format', 'start', 'threadVersion'].every((name) => typeof value[name] === 'number') &&
    ['carried', 'hides'].every((name) => isListOf(value[name], hasId)) &&
    isListOf(value['records'], hasSpan)
  );
}

function isListOf(value: Json | undefined, is: (each: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(is);
}

function hasId(value: Json): boolean {
  return isJsonObject(value) && typeof value['id'] === 'string';
}

function hasSpan(value: Json): boolean {
  const span = isJsonObject(value) ? value['span'] : undefined;
  return isJsonObject(span) && isListOf(span['ids'], (id) => typeof id === 'string');
}
