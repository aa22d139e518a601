import { canonicalJson, lastIndex, lastOf, sha256 } from '@bobbin/core/internal';
import { named } from './pairs.ts';
import { turnsOf, type AnthropicRequest, type PlacedBlock } from './anthropic-turn.ts';

/**
 * Newer models bind a thinking block to the conversation that it was made in: to system, tools and every block before
 * it, and to the thinking block before it. Thinking may be left out from the beginning on, but not from the middle.
 * Real signatures can only be checked by their provider; scripted providers use the ones made here.
 */
export function signThinking(request: AnthropicRequest, said: readonly object[] = []): string {
  const answer = { role: 'assistant', content: said };
  const placed = blocksIn({ ...request, messages: [...request.messages, answer] });
  const before = lastOf(placed, ({ block }) => isThinking(block));
  return signature(request, placed, before?.block);
}

const MARK = 'bound';

function signature(
  request: AnthropicRequest,
  before: readonly PlacedBlock[],
  previous: PlacedBlock['block'] | undefined,
): string {
  const spoken = before.filter(({ block }) => !isThinking(block)).map(({ block }) => bare(block));
  const prefix = sha256(canonicalJson([bare(request.system), bare(request.tools), spoken]));
  const chain = previous === undefined ? 'none' : sha256(canonicalJson(bare(previous)));
  return [MARK, prefix.slice(0, 16), chain.slice(0, 16)].join(':');
}

/** The thinking blocks of a scripted provider in places where it did not sign them. */
export function thinkingProblems(request: AnthropicRequest): readonly string[] {
  const placed = blocksIn(request);
  const problems: string[] = [];
  let previous: PlacedBlock['block'] | undefined;
  placed.forEach(({ path, block }, i) => {
    if (!isThinking(block)) return;
    const signed = named(block['signature'] ?? block['data']).split(':');
    if (signed[0] === MARK) {
      const due = signature(request, placed.slice(0, i), previous).split(':');
      if (signed[1] !== due[1]) problems.push(`${path}: the conversation before it has changed`);
      else if (previous !== undefined && signed[2] !== due[2])
        problems.push(`${path}: the thinking before it is missing`);
    }
    previous = block;
  });
  return problems;
}

/** What the model reads: from the newest compaction of the provider's on. */
function blocksIn(request: AnthropicRequest): readonly PlacedBlock[] {
  const blocks = turnsOf(request).flatMap((turn) => turn.blocks);
  return blocks.slice(
    Math.max(
      0,
      lastIndex(blocks, ({ block }) => block['type'] === 'compaction'),
    ),
  );
}

function isThinking({ type }: PlacedBlock['block']): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Without cache markers, which are not content. */
function bare(value: unknown): unknown {
  const text = JSON.stringify(value ?? null, (key, field: unknown) =>
    key === 'cache_control' ? undefined : field,
  );
  return JSON.parse(text) as unknown;
}
