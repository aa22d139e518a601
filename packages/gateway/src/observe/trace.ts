import type { IncomingHttpHeaders } from 'node:http';
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api';
import type { Exchange } from './exchange.ts';

const TRACER = 'bobbin-gateway';

/** Reports an exchange as a span with OpenTelemetry's names for generative AI. Without an SDK it costs nothing. */
export function traceExchange(exchange: Exchange, headers: IncomingHttpHeaders): void {
  const { at, totalMs, model, end, status } = exchange;
  const span = trace
    .getTracer(TRACER)
    .startSpan(
      `chat ${model}`,
      { kind: SpanKind.CLIENT, startTime: at, attributes: attributesOf(exchange) },
      parentOf(headers),
    );
  const isError = end !== 'relayed' || (status ?? 0) >= 400;
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR, message: `${end} ${status ?? ''}` });
  span.end(at + totalMs);
}

function parentOf(headers: IncomingHttpHeaders): Context {
  return propagation.extract(context.active(), headers);
}

function attributesOf(exchange: Exchange): Attributes {
  const { usage, thread, status, tokensBefore, tokensAfter } = exchange;
  const inputTokens = usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': exchange.provider,
    'gen_ai.request.model': exchange.model,
    'bobbin.action': exchange.action,
    'bobbin.own_work_ms': exchange.ownMs,
    ...(thread === undefined ? {} : { 'gen_ai.conversation.id': thread }),
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(tokensBefore === undefined ? {} : { 'bobbin.tokens_before': tokensBefore }),
    ...(tokensAfter === undefined ? {} : { 'bobbin.tokens_after': tokensAfter }),
    ...(usage === undefined || inputTokens === undefined
      ? {}
      : {
          'gen_ai.usage.input_tokens': inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
          'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
          'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
        }),
  };
}
