import type { Prompt } from '@bobbin/core';
import { currentSummary } from '@bobbin/core/internal';
import { percentText, tokensText } from '../figures.ts';
import { readInstructions } from '../input/instructions.ts';
import type { AgentSession } from '../session/session.ts';

/** What the window holds, by kind, in tokens. */
export interface ContextPicture {
  readonly windowTokens: number;
  readonly system: number;
  readonly instructions: number;
  readonly tools: number;
  readonly pins: number;
  readonly summaries: number;
  readonly recent: number;
  readonly free: number;
  readonly messages: number;
  readonly cachePoints: readonly number[];
}

export async function contextPicture(session: AgentSession): Promise<ContextPicture> {
  const { handle, windowTokens, toolTokens, systemTokens } = session;
  const { counter } = handle;
  const prompt = await session.present();
  const files = readInstructions(session.setting.folders);
  const instructions = Math.min(
    systemTokens,
    files.reduce((sum, { content }) => sum + counter.text(content), 0),
  );
  const { pins, summaries, recent } = shares(session, prompt);
  const estimated = systemTokens + toolTokens + pins + summaries + recent;
  // Each kind is estimated; together they are the one figure that all else shows.
  const used = session.contextTokens;
  const part = (tokens: number): number => Math.round((tokens / estimated) * used);
  const others = {
    system: part(systemTokens - instructions),
    instructions: part(instructions),
    tools: part(toolTokens),
    pins: part(pins),
    summaries: part(summaries),
  };
  return {
    windowTokens,
    ...others,
    recent: Object.values(others).reduce((rest, tokens) => rest - tokens, used),
    free: Math.max(0, windowTokens - used),
    messages: prompt.messages.length,
    cachePoints: prompt.cachePoints,
  };
}

function shares(
  { handle }: AgentSession,
  prompt: Prompt,
): { pins: number; summaries: number; recent: number } {
  const pinned = new Set<string>(handle.plan.pins);
  const sums = { pins: 0, summaries: 0, recent: 0 };
  for (const { message, source } of prompt.messages) {
    const isPin = message.meta?.pinned === true || ('id' in source && pinned.has(source.id));
    sums[isPin ? 'pins' : source.kind === 'record' ? 'summaries' : 'recent'] +=
      handle.counter.message(message);
  }
  return sums;
}

const CELLS = 24;
const KINDS = [
  ['system', 'system prompt', '#'],
  ['instructions', 'instruction files', '@'],
  ['tools', 'tools', '%'],
  ['pins', 'pins', '!'],
  ['summaries', 'summaries', '='],
  ['recent', 'recent messages', '+'],
  ['free', 'free', '.'],
] as const;

/** The picture in characters, for any terminal. */
export function drawContext(picture: ContextPicture, session: AgentSession): string {
  const { windowTokens } = picture;
  const cells = KINDS.map(([kind, , sign]) => ({
    sign,
    cells: (picture[kind] / windowTokens) * CELLS,
  }));
  let bar = '';
  let sum = 0;
  for (const { sign, cells: wide } of cells) {
    sum += wide;
    bar = bar.padEnd(Math.min(CELLS, Math.round(sum)), sign);
  }
  const rows = KINDS.map(([kind, name, sign]) => {
    const tokens = picture[kind];
    return `  ${sign} ${name.padEnd(18)}${tokensText(tokens).padStart(7)}  ${percentText(tokens / windowTokens).padStart(4)}`;
  });
  const summary = currentSummary(session.handle.plan);
  return [
    `[${bar.padEnd(CELLS, '.')}]  ${tokensText(windowTokens)} tokens`,
    ...rows,
    `  ${picture.messages} messages in the prompt of ${session.handle.length} in the thread; cache points after ${picture.cachePoints.map((point) => point + 1).join(', ') || 'none'}`,
    ...(summary === undefined
      ? []
      : [`  the summary replaces ${summary.messages} messages (round ${summary.summary.round})`]),
  ].join('\n');
}
