export { contentWords, namesIn, sentencesOf, STOP } from '../../message/words.ts';
