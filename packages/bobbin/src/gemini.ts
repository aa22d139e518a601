export { gemini, GEMINI_RULES, geminiProblems, type GeminiContent } from '@bobbin/codecs';
