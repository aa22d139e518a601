import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { openaiChatProblems } from '@bobbin/codecs';
import { parseJson, type JsonObject } from '@bobbin/core/internal';

interface Body extends JsonObject {
  readonly messages: readonly (JsonObject & {
    readonly role: string;
    readonly content?: string;
    readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
  })[];
  readonly tools?: readonly JsonObject[];
}

export interface TaskServer {
  readonly url: string;
  /** What was wrong with requests; a provider would have refused them. */
  readonly problems: readonly string[];
}

/** The step at which the provider once does not answer, so that the agent can be killed there. */
export const HUNG_STEP = 15;

/**
 * A provider of OpenAI's chat protocol whose model does a task: "do N steps" is N commands, each with much output. Where
 * it is, it knows from its last command in the prompt. It counts tokens, and is as strict as the real one.
 */
export async function taskServer(t: TestContext): Promise<TaskServer> {
  const problems: string[] = [];
  let hasHung = false;
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      if (request.method !== 'POST') return response.writeHead(404).end('{}');
      const body = parseJson(sent) as Body;
      problems.push(...openaiChatProblems(body.messages));
      if (!hasHung && JSON.stringify(reply(body)).includes(`Step ${HUNG_STEP}.`)) {
        hasHung = true;
        return undefined;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const usage = { prompt_tokens: Math.ceil(sent.length / 4), completion_tokens: 40 };
      const delta = { role: 'assistant', ...reply(body) };
      const finish_reason = 'tool_calls' in delta ? 'tool_calls' : 'stop';
      const chunk = { id: 'x', choices: [{ index: 0, delta, finish_reason }], usage };
      const whole = { id: 'x', choices: [{ index: 0, message: delta, finish_reason }], usage };
      return body['stream'] === true
        ? response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
        : response.end(JSON.stringify(whole));
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, problems };
}

function reply({ messages, tools = [] }: Body): JsonObject {
  if (tools.length === 0) return { content: 'SUMMARY: the steps so far are done.' };
  const last = messages.at(-1);
  const asked = /^do (\d+) steps$/.exec(last?.role === 'user' ? (last.content ?? '') : '');
  const call = messages.findLast(({ tool_calls = [] }) => tool_calls.length > 0)?.tool_calls?.[0];
  const at = /step (\d+) of (\d+)/.exec(call?.function.arguments ?? '');
  const [done, total] =
    asked === null ? [Number(at?.[1] ?? 0), Number(at?.[2] ?? 0)] : [0, Number(asked[1])];
  if (done >= total)
    return { content: total === 0 ? 'One more answer.' : `All ${total} are done.` };
  const command = `seq -f "line %g of step ${done + 1} of ${total}" 1 150`;
  const called = { name: 'bash', arguments: JSON.stringify({ command }) };
  const id = `call_${messages.length}_${done + 1}`;
  return {
    content: `Step ${done + 1}.`,
    tool_calls: [{ index: 0, id, type: 'function', function: called }],
  };
}
