import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { textOf } from '@bobbin/core';
import {
  callsOf,
  isJsonObject,
  parseJson,
  resultsOf,
  resultText,
  type Json,
  type JsonObject,
  jsonText,
} from '@bobbin/core/internal';
import type { Agent } from '../loop/agent.ts';
import { describe } from '../commands/command.ts';
import { COMMANDS } from '../commands/commands.ts';
import { PROTOCOL_VERSION } from '../events.ts';
import { reasonOf } from '../model/provider-error.ts';
import { ExpectedError } from '../expected-error.ts';
import { runCommand, submit } from '../loop/submit.ts';
import { answerOf } from './answer.ts';

/** JSON-RPC 2.0, a message a line, in both directions; every event is a notification (docs/agent.md). */
export async function rpcMode(
  agent: Agent,
  input: Readable,
  write: (line: string) => void,
): Promise<void> {
  const send = (message: JsonObject): void =>
    write(`${jsonText({ jsonrpc: '2.0', ...message })}\n`);
  const stop = agent.on((event) =>
    send({ method: 'event', params: event as unknown as JsonObject }),
  );
  agent.tellStart();
  const lines = createInterface({ input });
  const answering = new Set<Promise<void>>();
  for await (const line of lines) {
    if (line.trim() === '') continue;
    const request = parseJson(line);
    const work = respond(agent, request, send);
    answering.add(work);
    void work.finally(() => answering.delete(work));
    if (isJsonObject(request) && request['method'] === 'shutdown') break;
  }
  lines.close();
  agent.interrupt();
  await Promise.all(answering);
  await agent.rest();
  stop();
}

/** What the caller did wrong, with JSON-RPC's code for it. */
class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const PARSE = -32_700;
const INVALID = -32_600;
const NO_METHOD = -32_601;
const BAD_PARAMS = -32_602;
const FAILED = -32_000;

async function respond(
  agent: Agent,
  request: Json | undefined,
  send: (message: JsonObject) => void,
): Promise<void> {
  const id = (isJsonObject(request) ? request['id'] : undefined) ?? null;
  const isAnswered = !isNotification(request);
  try {
    const result = await call(agent, request);
    if (isAnswered) send({ id, result });
  } catch (error) {
    const code = error instanceof RpcError ? error.code : FAILED;
    if (isAnswered) send({ id, error: { code, message: reasonOf(error) } });
    if (!(error instanceof RpcError) && !(error instanceof ExpectedError))
      agent.emit({ type: 'error', error: reasonOf(error) });
  }
}

/** A request without an id, which is never answered. */
function isNotification(request: Json | undefined): boolean {
  return (
    isJsonObject(request) && typeof request['method'] === 'string' && request['id'] === undefined
  );
}

function call(agent: Agent, request: Json | undefined): Promise<Json> | Json {
  if (request === undefined) throw new RpcError(PARSE, 'this line is no JSON');
  if (!isJsonObject(request) || typeof request['method'] !== 'string')
    throw new RpcError(INVALID, 'this is no JSON-RPC request');
  const method = METHODS.get(request['method']);
  if (method === undefined)
    throw new RpcError(NO_METHOD, `there is no method ${request['method']}`);
  const params = request['params'] ?? {};
  if (!isJsonObject(params)) throw new RpcError(BAD_PARAMS, 'params must be an object');
  return method(agent, params);
}

type Method = (agent: Agent, params: JsonObject) => Promise<Json> | Json;

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries<Method>({
    initialize: (agent) => ({
      protocol: PROTOCOL_VERSION,
      ...stateOf(agent),
      commands: COMMANDS.map(describe),
    }),
    state: stateOf,
    async say(agent, params) {
      const queued = !agent.isIdle;
      // A message may begin with a slash; commands have their own method.
      const said = textParam(params, 'text');
      if (said.startsWith('/')) agent.say(said);
      else await submit(agent, said);
      return { queued };
    },
    goOn(agent) {
      agent.goOn();
      return {};
    },
    interrupt(agent) {
      agent.interrupt();
      return {};
    },
    async command(agent, params) {
      const operands = params['operands'] === undefined ? '' : textParam(params, 'operands');
      const { text, data = null } = await runCommand(
        agent,
        textParam(params, 'name'),
        operands.trim(),
      );
      return { text, data };
    },
    answer(agent, params) {
      const answer = answerOf(params['answer']);
      if (answer === undefined)
        throw new RpcError(BAD_PARAMS, 'answer must be yes, always, edits, alike or no');
      if (!agent.answer(textParam(params, 'id'), answer))
        throw new RpcError(FAILED, 'nothing asks for that');
      return {};
    },
    rest: async (agent) => ({ reason: await agent.rest() }),
    async messages(agent) {
      const path = await agent.session.path();
      return path.map(({ id, turn, message }) => ({
        id,
        turn,
        role: message.role,
        text: textOf(message),
        calls: callsOf(message).map(({ callId, tool, args }) => ({ callId, tool, args })),
        results: resultsOf(message).map((result) => ({
          callId: result.callId,
          tool: result.tool ?? null,
          outcome: result.outcome ?? null,
          text: resultText(result),
        })),
      }));
    },
    shutdown: () => ({}),
  }),
);

function stateOf(agent: Agent): JsonObject {
  const { session, machine } = agent;
  return {
    session: session.id,
    file: session.file,
    model: session.model.name,
    windowTokens: session.windowTokens,
    contextTokens: session.contextTokens,
    messages: session.handle.length,
    phase: machine.phase,
    automatic: machine.automatic,
    queue: [...machine.queue],
  };
}

function textParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw new RpcError(BAD_PARAMS, `${name} must be a string`);
  return value;
}
