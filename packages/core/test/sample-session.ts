import {
  memoryStore,
  type BobbinOptions,
  type Message,
  type Prompt,
  type Store,
} from '@bobbin/core';
import { chars4, messagesOnly } from '@bobbin/core/internal';
import { assistant, round, user } from '@bobbin/testing';

export const options: BobbinOptions = {
  counter: chars4(),
  budget: messagesOnly(1_200),
  preset: 'ladder',
};
export const turn = (name: string): readonly Message[] => [
  user(`${name} ${'question '.repeat(30)}`),
  ...round('read', { name }, `${name} ${'line '.repeat(60)}`),
  assistant(`${name} ${'answer '.repeat(30)}`),
];
export const many = (from: number, to: number): readonly Message[] =>
  Array.from({ length: to - from + 1 }, (_, i) => turn(`t${from + i}`)).flat();
export const messagesOf = ({ messages }: Prompt): readonly Message[] =>
  messages.map(({ message }) => message);

/** A store that counts what is written and may lose a race. */
export function watchedStore(): Store & {
  commits: number;
  race: (() => Promise<void>) | undefined;
} {
  const inner = memoryStore();
  return {
    ...inner,
    commits: 0,
    race: undefined,
    async commit(key, plan, expected, events) {
      const { race } = this;
      this.race = undefined;
      await race?.();
      this.commits++;
      return inner.commit(key, plan, expected, events);
    },
  };
}
