import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repeatsItself } from './repetition.ts';
import type { ServedModel } from './serve.ts';

/** The few parts of node-llama-cpp that are used; it is installed apart, so its own types are not at hand. */
interface Llama {
  loadModel(options: { modelPath: string }): Promise<LlamaModel>;
}
interface LlamaModel {
  tokenize(text: string): readonly number[];
  createContext(options: { contextSize: number; threads: number }): Promise<LlamaContext>;
}
interface LlamaContext {
  getSequence(): object;
}
interface Runtime {
  getLlama(options: object): Promise<Llama>;
  LlamaChatSession: new (options: object) => {
    promptWithMeta(text: string, options: object): Promise<{ readonly stopReason: string }>;
  };
}

/** A model of the runtime in a folder. Its one sequence is kept: what a prompt shares with the last is not read again. */
export async function loadModel(
  folder: string,
  modelPath: string,
  contextTokens: number,
): Promise<ServedModel> {
  const entry = join(folder, 'node_modules', 'node-llama-cpp', 'dist', 'index.js');
  const runtime = (await import(pathToFileURL(entry).href)) as Runtime;
  const llama = await runtime.getLlama({ gpu: false, build: 'never', skipDownload: true });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    contextSize: contextTokens,
    // Threads that wait for one that does not run spin: where something else runs as well, all cores are slower than one.
    threads: Math.max(1, availableParallelism() - 1),
  });
  const contextSequence = context.getSequence();
  return {
    name: 'tinyllama-1b',
    contextTokens,
    countTokens: (text) => model.tokenize(text).length,
    async generate({ system, user, signal, ...options }) {
      const session = new runtime.LlamaChatSession({ contextSequence, systemPrompt: system });
      // A model this small seldom finds its end: it is at it when it says the same thing again and again.
      const ended = new AbortController();
      let text = '';
      const { stopReason } = await session.promptWithMeta(user, {
        ...options,
        seed: 1,
        signal: AbortSignal.any([signal, ended.signal]),
        stopOnAbortSignal: true,
        onTextChunk: (piece: string) => {
          text += piece;
          if (repeatsItself(text)) ended.abort();
        },
      });
      signal.throwIfAborted();
      return { text, isCutOff: stopReason === 'maxTokens' };
    },
  };
}
