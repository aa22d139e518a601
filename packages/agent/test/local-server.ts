import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { text as textOf } from 'node:stream/consumers';

type Answer = (body: string) => object;

/** What a server answers, by path; a function gets the body that was sent. */
export type Answers = Readonly<Record<string, object | Answer>>;

/** A server on this machine that knows these paths alone; completions are streamed. Gives its address. */
export async function localServer(t: TestContext, answers: Answers): Promise<string> {
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      const answer: object | undefined = answers[request.url ?? ''];
      if (answer === undefined) return response.writeHead(404).end();
      const content: object = typeof answer === 'function' ? (answer as Answer)(body) : answer;
      const text = JSON.stringify(content);
      if (!('choices' in content)) return response.writeHead(200).end(text);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.end(`data: ${text}\n\ndata: [DONE]\n\n`);
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const listed = (...ids: readonly string[]): object => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model' })),
});

/** Ollama with one model that runs and one that is only on disk. */
export const OLLAMA: Answers = {
  '/v1/models': listed('gemma4:latest', 'qwen3:8b', 'tiny'),
  '/api/ps': {
    models: [{ name: 'gemma4:latest', model: 'gemma4:latest', context_length: 16_384 }],
  },
  '/api/show'(body) {
    const { model } = JSON.parse(body) as { model: string };
    return {
      parameters: model === 'tiny' ? 'temperature 0.7\nnum_ctx    8192' : '',
      model_info: { 'general.architecture': 'x', 'x.context_length': 131_072 },
    };
  },
};

export const LLAMA_CPP: Answers = {
  '/v1/models': { data: [{ id: 'local', meta: { n_ctx_train: 131_072 } }] },
  '/props': { default_generation_settings: { n_ctx: 12_288 }, total_slots: 1 },
};

export const LM_STUDIO: Answers = {
  '/v1/models': listed('a', 'b'),
  '/api/v0/models': {
    data: [
      { id: 'a', state: 'loaded', loaded_context_length: 24_576, max_context_length: 131_072 },
      { id: 'b', state: 'not-loaded', max_context_length: 32_768 },
    ],
  },
};

export const VLLM: Answers = {
  '/v1/models': { data: [{ id: 'served', max_model_len: 40_960 }] },
};
