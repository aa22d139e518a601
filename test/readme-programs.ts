import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A complete program around a change that the README shows: a scripted provider before it, what must hold after it. */
export interface ReadmeProgram {
  /** The heading of the change. */
  readonly name: string;
  readonly addedLines: number;
  readonly code: string;
}

const STEPS = 40;

/** Tool calls, then an answer, by a provider that speaks a dialect. */
function provider(dialect: string): string {
  return `import assert from 'node:assert/strict';
import { providerServer } from 'bobbin/testing';
const server = await providerServer(
  '${dialect}',
  ...Array.from({ length: ${STEPS} }, (_, i) => ({ kind: 'call', tool: 'read_file', args: { path: \`src/\${i}.ts\` } }) as const),
  { kind: 'answer', text: 'Done.' },
);
process.env['OPENAI_API_KEY'] = 'key';
process.env['OPENAI_BASE_URL'] = server.url;
const readFile = (path: string): string => \`// \${path}\\n\${'compute(1);\\n'.repeat(400)}\`;
`;
}

/** The prompts were valid, they were compacted, and the user's rule is in all of them. */
const HOLDS = `server.expectDone();
await server.close();
const last = server.requests.at(-1)?.text ?? '';
assert.equal(server.requests.length, ${STEPS} + 1);
assert.ok(last.length < (${STEPS} * readFile('').length) / 2, \`\${last.length} characters were sent\`);
assert.ok(server.requests.every(({ text }) => text.includes('Never touch deploy/.')));
`;

interface Surroundings {
  readonly before: string;
  readonly after?: string;
}

const PROGRAMS: Readonly<Record<string, Surroundings>> = {
  'AI SDK 6 and 7': {
    before: `${provider('openai-responses')}import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
const openai = createOpenAI({ baseURL: server.url });
const inputSchema = jsonSchema<{ path: string }>({ type: 'object', properties: { path: { type: 'string' } } });
const tools = { read_file: tool({ inputSchema, execute: ({ path }) => readFile(path) }) };
const prompt = 'Read all files. Never touch deploy/.';
`,
    after: `assert.equal(text, 'Done.');\n`,
  },
  LangChain: {
    before: `${provider('openai-chat')}import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
const model = new ChatOpenAI({ model: 'gpt-5', configuration: { baseURL: server.url } });
const schema = { type: 'object', properties: { path: { type: 'string' } } } as const;
const tools = [tool((args) => readFile((args as { path: string }).path), { name: 'read_file', description: 'Reads a file.', schema })];
`,
    after: `const messages = [{ role: 'user', content: 'Read all files. Never touch deploy/.' }];
const state = await agent.invoke({ messages }, { recursionLimit: 1_000 });
assert.equal(state.messages.at(-1)?.text, 'Done.');
`,
  },
  'OpenAI Agents': {
    before: `${provider('openai-responses')}import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents';
setTracingDisabled(true);
const parameters = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: true } as const;
const execute = (args: unknown): string => readFile((args as { path: string }).path);
const read = tool({ name: 'read_file', description: 'Reads a file.', parameters: { ...parameters, required: [] }, strict: false, execute });
const agent = new Agent({ name: 'reader', model: 'gpt-5', tools: [read] });
const input = 'Read all files. Never touch deploy/.';
`,
  },
  'A plain loop': {
    before: `${provider('openai-chat')}import OpenAI from 'openai';
const client = new OpenAI();
const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }];
const history: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Read all files. Never touch deploy/.' }];
for (let calls = true; calls; ) {
`,
    after: `  const { message } = response.choices[0]!;
  history.push(message);
  calls = message.tool_calls !== undefined;
  for (const call of message.tool_calls ?? []) {
    const { path } = JSON.parse('function' in call ? call.function.arguments : '{}') as { path: string };
    history.push({ role: 'tool', tool_call_id: call.id, content: readFile(path) });
  }
}
assert.equal(history.at(-1)?.content, 'Done.');
`,
  },
};

/** A program for each change that the README shows. */
export function readmePrograms(root: string): ReadmeProgram[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  return [...text.matchAll(/^### (.+)\n\n```diff\n([\s\S]*?)^```$/gm)].map(
    ([, name = '', diff = '']) => {
      const lines = diff.split('\n');
      const added = lines.filter((line) => line.startsWith('+'));
      return { name, addedLines: added.length, code: programOf(name, lines) };
    },
  );
}

function programOf(name: string, lines: readonly string[]): string {
  const surroundings = PROGRAMS[name];
  if (surroundings === undefined) throw new Error(`nothing surrounds the change "${name}"`);
  const changed = lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1));
  // Imports and what is made once go before a loop.
  const once = changed.filter((line) => /^(?:import |const bobbin =)/.test(line));
  const rest = changed.filter((line) => !once.includes(line));
  const { before, after = '' } = surroundings;
  return [...once, before, ...rest, after, HOLDS].join('\n');
}
