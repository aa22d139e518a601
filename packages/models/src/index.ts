export { bpe, type Encoding } from './bpe.ts';
export { counterFor } from './counter-for.ts';
