import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage, HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { createAgent, fakeModel, tool } from 'langchain';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import { bobbinMiddleware } from '@bobbin/adapters/langchain';

const DESCRIBED = 'what to look for: '.repeat(250);
const LONG = 'lorem ipsum dolor sit '.repeat(60);
const TALK = Array.from({ length: 25 }, (_, i) => [
  new HumanMessage(`question ${i} ${LONG}`),
  new AIMessage(`answer ${i} ${LONG}`),
]).flat();

type Schema = NonNullable<Parameters<typeof tool>[1]['schema']>;

/** How much of a long talk an agent with a tool is shown in a small window. */
async function shownWith(schema: Schema): Promise<number> {
  let shown = 0;
  const model = fakeModel().respond((messages: BaseMessage[]) => {
    shown = messages.reduce((sum, { text }) => sum + text.length, 0);
    return new AIMessage('seen');
  });
  const look = tool(() => 'seen', { name: 'look', description: 'Looks.', schema });
  const middleware = [bobbinMiddleware({ window: 8_000 })];
  await createAgent({ model, tools: [look], middleware }).invoke({
    messages: [...TALK, new HumanMessage('and now?')],
  });
  return shown;
}

test('C14 on LangChain the schemas of tools are counted whatever they are written in', async () => {
  const query = z4.object({ query: z4.string().describe(DESCRIBED) });
  const sizes = await Promise.all([
    shownWith(query),
    shownWith(z3.object({ query: z3.string().describe(DESCRIBED) }) as unknown as Schema),
    shownWith(z4.toJSONSchema(query) as Schema),
  ]);
  const without = await shownWith(z4.object({ query: z4.string() }));
  // JSON Schema names its dialect, which costs a few tokens.
  assert.ok(Math.max(...sizes) - Math.min(...sizes) < 20, sizes.join(' '));
  assert.ok(Math.max(...sizes) < without - 200, `${sizes.join(' ')} ${without}`);
});
