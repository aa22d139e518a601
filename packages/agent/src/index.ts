export { runAgent } from './command-line.ts';
