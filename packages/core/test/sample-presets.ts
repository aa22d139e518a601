import type { Message } from '@bobbin/core';
import { budget, type TriggerInput } from '@bobbin/core/internal';
import { assistant, round, user } from '@bobbin/testing';
import { padded } from './presets/notation.ts';

export const check: TriggerInput = {
  tokens: 0,
  contextTokens: 0,
  messages: 100,
  turns: 0,
  budget: budget({ windowTokens: 200_000 }),
};

export const turn = (i: number): readonly Message[] => [
  user(padded(`u${i}`, 100)),
  ...round('read', { i }, padded(`t${i}`, 4_000)),
  assistant(padded(`a${i}`, 400)),
];
