export { bpe, type Encoding } from './bpe.ts';
export { counterFor } from './counter-for.ts';
export { compactionSummarizer, type CompactionSummarizerOptions } from './compaction-summarizer.ts';
export { modelSummarizer, type LivePrompt, type ModelSummarizerOptions } from './summarizer.ts';
export { displaySummary } from './summarizer-display.ts';
export { displayText } from './display.ts';
export { mannerOf, promptVersion, type AnswerForm, type SummaryManner } from './prompts.ts';
