import type { IncomingHttpHeaders } from 'node:http';
import { MEMORY_TOOLS, type JsonObject } from '@bobbin/core/internal';
import type { Ledger } from '@bobbin/stores';
import type { ClientRequest } from '../fitting/fit.ts';
import { withField, withOtherItems } from '../protocol/body-bytes.ts';
import { messagesIn, objectsIn, type Protocol } from '../protocol/protocol.ts';
import { listKeys, roundsIn, withHiddenRounds, type Round } from './hidden-rounds.ts';
import { isOwnTool } from './tool-shape.ts';

/** Whether the model may call tools, as far as the client lets it. */
export type ToolChoice = 'clients' | 'no-calls';

/** A request of a client to which the gateway's tools are offered. */
export interface OfferedRequest {
  /** The client's messages with the rounds that it has not seen. */
  readonly messages: readonly JsonObject[];
  /** What the client's list is called. */
  readonly key: string;
  /** The request with other messages than the client's; those that are the client's keep their bytes. */
  with(messages: readonly JsonObject[], choice: ToolChoice): ClientRequest;
}

/** True if a client asks for the gateway's tools, or the gateway offers them unless a client says no. */
export function wantsTools(headers: IncomingHttpHeaders, usual: 'on' | 'off'): boolean {
  const asked = String(headers['x-bobbin-tools'] ?? usual).toLowerCase();
  return asked === 'on' || asked === 'true' || asked === '1';
}

/** The request with the gateway's tools; undefined if it cannot have them. */
export async function offerTools(
  request: ClientRequest,
  ledger: Ledger,
): Promise<OfferedRequest | undefined> {
  const { endpoint, body, bytes, tenant } = request;
  const { protocol } = endpoint;
  const shape = protocol.tools;
  const clients = messagesIn(protocol, body);
  const tools = objectsIn(body['tools']);
  if (clients === undefined || !shape.allows(body) || protocol.leaveAlone(body) !== undefined)
    return undefined;
  if (tools.some((tool) => isOwnTool(shape.nameOf(tool)))) return undefined;
  const keys = listKeys(clients);
  const rounds = await roundsOf(ledger, tenant, keys);
  const after = (index: number): readonly (readonly Round[])[] =>
    rounds.get(keys[index] ?? '') ?? [];
  const isClients = (message: JsonObject, i: number): boolean => message === clients[i];
  const withTools = offeredIn(protocol, bytes, body);
  if (withTools === undefined) return undefined;
  const whole = withHiddenRounds(shape, clients, after);
  return {
    messages: whole,
    key: keys.at(-1) ?? '',
    with(messages, choice) {
      const { field } = protocol;
      const isSame = messages.length === clients.length && messages.every(isClients);
      const changed = isSame
        ? withTools.bytes
        : withOtherItems(withTools.bytes, field, clients, messages);
      if (changed === undefined) throw new Error(`${field}: its bytes cannot be located`);
      const { sent: _, ...rest } = request;
      const own = { ...rest, body: { ...withTools.body, [field]: messages }, bytes: changed };
      return {
        ...(choice === 'clients' ? own : withoutCalls(own)),
        ...(messages === whole ? { withoutTools: request } : { isToolRound: true }),
        offersTools: true,
      };
    },
  };
}

/** The request, to be answered without a call. The tools stay: the messages have calls of them. */
function withoutCalls(request: ClientRequest): ClientRequest {
  const { noCalls } = request.endpoint.protocol.tools;
  const bytes = withField(request.bytes, 'tool_choice', noCalls);
  return { ...request, bytes, body: { ...request.body, tool_choice: noCalls } };
}

async function roundsOf(
  ledger: Ledger,
  tenant: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, readonly (readonly Round[])[]>> {
  const found = await ledger.rounds(tenant, keys);
  const byKey = new Map<string, (readonly Round[])[]>();
  for (const { key, rounds } of found)
    byKey.set(key, [...(byKey.get(key) ?? []), roundsIn(rounds)]);
  return byKey;
}

/** A body with the gateway's tools after the client's own; undefined if its bytes do not say where those are. */
function offeredIn(
  { tools: shape }: Protocol,
  bytes: Buffer,
  body: JsonObject,
): { readonly bytes: Buffer; readonly body: JsonObject } | undefined {
  const own = MEMORY_TOOLS.map(({ definition }) => shape.define(definition));
  const { tools: given } = body;
  if (given === undefined) {
    const changed = withField(bytes, 'tools', own);
    return { bytes: changed, body: { ...body, tools: own } };
  }
  if (!Array.isArray(given)) return undefined;
  const before = given as readonly JsonObject[];
  const tools = [...before, ...own];
  const changed = withOtherItems(bytes, 'tools', before, tools);
  return changed === undefined ? undefined : { bytes: changed, body: { ...body, tools } };
}
