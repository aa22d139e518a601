import { conversation } from './conversation.ts';

export const long = conversation(40);
export const BUDGET = ['--budget', '3000', '--counter', 'chars4'];
