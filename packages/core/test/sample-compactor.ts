import type { BobbinOptions, CompactionEvent, Message, Policy } from '@bobbin/core';
import { chars4, messagesOnly, step } from '@bobbin/core/internal';
import { assistant, user } from '@bobbin/testing';

/** Everything but the newest messages into one summary, whenever there are more than 200 tokens. */
export const rolling: Policy = {
  ...step({
    modelContextLimit: 250,
    systemReserve: 0,
    outputReserve: 0,
    safetyBuffer: 0,
    recentMessagesToKeep: 2,
  }),
};
export const options: BobbinOptions = {
  preset: rolling,
  counter: chars4(),
  budget: messagesOnly(2_000),
  clock: { now: () => 1_000 },
};

export const long = (name: string): readonly Message[] => [
  user(`${name}: ${'please look into it. '.repeat(20)}`),
  assistant(`${name}: ${'I have looked into it. '.repeat(20)}`),
];
export const kinds = (events: readonly CompactionEvent[]): readonly string[] =>
  events.map(({ kind }) => kind);
