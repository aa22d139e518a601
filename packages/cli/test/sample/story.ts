import type { ChatMessage } from '@bobbin/codecs';
import { ScriptedAgent, type Call } from './agent.ts';
import { FIRST_OUTLINE, FIRST_TEST } from './outline-source.ts';

const SYSTEM = `You are a coding agent in the repository of Bobbin. You have tools to list, read, search, write and edit files and to run commands. Read before you change. Say what you found with file and line. Stop when the task is done.`;

const OUTLINE = 'packages/core/src/thread/outline.ts';
const OUTLINE_TEST = 'packages/core/test/outline.test.ts';
const RUN_TEST: Call = {
  tool: 'run',
  args: { command: `node --conditions=@bobbin/source --test ${OUTLINE_TEST}` },
};

/** A working day on this repository: every result in it comes from a tool that ran. */
export function tellStory(root: string): readonly ChatMessage[] {
  const agent = new ScriptedAgent(root, SYSTEM);
  try {
    for (const turn of TURNS) turn(agent);
    return agent.messages;
  } finally {
    agent.close();
  }
}

const TURNS: readonly ((agent: ScriptedAgent) => void)[] = [
  readIn,
  followLargeResult,
  addOutline,
  cutAtGraphemes,
  listSources,
  comparePresets,
  readDoor,
  readSummaries,
  writeDocs,
  checkEverything,
  readCodecs,
  addTokens,
  wrapUp,
];

const read = (path: string): Call => ({ tool: 'read_file', args: { path } });
const list = (pattern: string): Call => ({ tool: 'list_files', args: { pattern } });
const search = (pattern: string, under: string): Call => ({
  tool: 'search',
  args: { pattern, under },
});

/** Most files of one room that are read: the repository grows, the sample should not. */
const MOST_FILES = 13;

/** Reads the files that match, a few in each round. */
function readAll(agent: ScriptedAgent, text: string, pattern: string): void {
  const paths = agent.files(pattern).slice(0, MOST_FILES);
  for (let i = 0; i < paths.length; i += 3)
    agent.round(i === 0 ? text : null, ...paths.slice(i, i + 3).map(read));
}

function readIn(agent: ScriptedAgent): void {
  agent.user(
    'Read yourself into this repository: the README, how to work on it, and the room "thread" of the engine. Three rules for everything that follows: never change a file that is there already, add no dependency, and every function must fit on a screen. Release is on 2026-11-20, ticket BOB-417.',
  );
  agent.round(
    'I begin with what there is.',
    list('packages/core/src/**/*.ts'),
    list('*.{md,json}'),
  );
  agent.round(null, read('README.md'), read('CONTRIBUTING.md'));
  readAll(agent, 'Now the first room.', 'packages/core/src/thread/*.ts');
  agent.say(
    'A thread is append-only and its ids are content: a message id is a hash of its parent and of what it says (thread/message.ts). Turns start at a user message that carries no result (startsTurn). I keep your three rules: no existing file changes, no new dependency, functions fit on a screen. BOB-417, release on 2026-11-20.',
  );
}

function followLargeResult(agent: ScriptedAgent): void {
  agent.user(
    'Where is a tool result handled that is larger than the whole budget? Follow it from the door to the prompt.',
  );
  agent.round(
    'I look for the words first.',
    search('firstSight|squeeze|largestUnsent', 'packages/core/src'),
  );
  agent.round(
    null,
    read('packages/core/src/compactor.ts'),
    read('packages/core/src/plan/first-sight.ts'),
  );
  readAll(
    agent,
    'The rungs it meets.',
    'packages/core/src/plan/{squeeze,externalize,excerpt,ladder,seat,draft}.ts',
  );
  agent.say(
    'Two places. When it is new and over a quarter of the limit, first-sight.ts moves it to an artifact before any provider has seen it, which costs no cache. When the budget still does not hold, squeeze.ts in the last resort (plan/ladder.ts) shortens it to its two ends, down to nothing if it must be; the pair stays together because seat.ts changes the result in its seat.',
  );
}

function addOutline(agent: ScriptedAgent): void {
  agent.user(
    `Add ${OUTLINE}: outline(messages) gives one entry a turn: its number, how many messages, calls and failed results it has, and the first words of what the user asked. With tests beside the others.`,
  );
  agent.round(
    'How tests look here.',
    list('packages/core/test/*.ts'),
    search('outcome\\??: Outcome|type Outcome', 'packages/core/src'),
  );
  agent.round(null, ...agent.files('packages/core/test/*.test.ts').slice(0, 2).map(read));
  agent.round(
    'I write both and run them.',
    { tool: 'write_file', args: { path: OUTLINE, content: FIRST_OUTLINE } },
    { tool: 'write_file', args: { path: OUTLINE_TEST, content: FIRST_TEST } },
  );
  agent.round(null, RUN_TEST);
  agent.round(
    'Both fail, and rightly: an outcome is "failure", not "error", and nothing begins turn 0.',
    {
      tool: 'edit_file',
      args: { path: OUTLINE, old: "outcome === 'error'", new: "outcome === 'failure'" },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'if (startsTurn(message)) turns.push(begin(turns.length + 1, textOf(message)));',
        new: "if (startsTurn(message)) turns.push(begin((turns.at(-1)?.turn ?? 0) + 1, textOf(message)));\n    else if (turns.length === 0) turns.push(begin(0, ''));",
      },
    },
  );
  agent.round(null, RUN_TEST);
  agent.say(
    `${OUTLINE} is there with two tests, both pass. The first version looked for the outcome "error", which does not exist; and a preamble is turn 0 now.`,
  );
}

function cutAtGraphemes(agent: ScriptedAgent): void {
  agent.user(
    'The words must not be cut inside an emoji or a combining sequence. Show me a test that failed before.',
  );
  agent.round(null, search('Segmenter|codePoint|surrogate', 'packages'), {
    tool: 'edit_file',
    args: {
      path: OUTLINE_TEST,
      old: "test('what comes before",
      new: "test('words are never cut inside a sign', () => {\n  const family = '👩‍👩‍👧‍👦';\n  const [told] = outline([textMessage('user', `${'x'.repeat(38)}${family} done`)]);\n  assert.equal(told?.asked, `${'x'.repeat(38)}${family}…`);\n});\n\ntest('what comes before",
    },
  });
  agent.round('It fails, as it should.', RUN_TEST);
  agent.round(
    null,
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'asked: text.slice(0, LONGEST) }',
        new: 'asked: firstWords(text) }',
      },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'function joined(',
        new: "const segmenter = new Intl.Segmenter();\n\n/** The beginning of a text, cut between signs as a reader sees them. */\nfunction firstWords(text: string): string {\n  const signs = [...segmenter.segment(text.slice(0, LONGEST * 8))].map(({ segment }) => segment);\n  return signs.length < LONGEST ? text : `${signs.slice(0, LONGEST - 1).join('')}…`;\n}\n\nfunction joined(",
      },
    },
  );
  agent.round(null, RUN_TEST);
  agent.say(
    'Intl.Segmenter cuts by grapheme; the family of four stays whole. The test failed before the change and passes now. No dependency was needed.',
  );
}

function listSources(agent: ScriptedAgent): void {
  agent.user(
    'On the prompt side: which code writes each kind of Source, and can a kept message ever be changed?',
  );
  readAll(agent, 'The whole room is short.', 'packages/core/src/prompt/*.ts');
  agent.round(
    null,
    search("kind: '(kept|changed|record|no-result|bridge)'", 'packages/core/src'),
    read('packages/core/src/thread/units.ts'),
  );
  agent.say(
    'All of them are written in prompt/builder.ts. "kept" is written in one place, with the node\'s own message, so what is kept is what came in. "bridge" is the only message that stands for nothing in the thread, and only where a provider asks for an order of roles.',
  );
}

function comparePresets(agent: ScriptedAgent): void {
  agent.user(
    'Compare the presets: for a conversation of 60 turns, how many messages does each one keep, and what does the prompt begin with? Run it, do not guess.',
  );
  readAll(agent, 'First what they say.', 'packages/core/src/presets/*.ts');
  agent.round(
    null,
    read('packages/core/src/plan/cut.ts'),
    read('packages/core/src/plan/trigger.ts'),
    read('packages/core/src/plan/policy.ts'),
  );
  readAll(
    agent,
    'And the rungs that they stand on.',
    'packages/core/src/plan/{summarize,clear,drop,precedence,durability,economics}.ts',
  );
  const script = `import { createBobbin, PRESETS, textMessage } from '@bobbin/core';
const said = Array.from({ length: 60 }, (_, i) => [textMessage('user', \`question \${i} \` + 'about the thread '.repeat(60)), textMessage('assistant', 'answer '.repeat(250))]).flat();
for (const preset of Object.keys(PRESETS)) {
  const { prompt, compacted } = await createBobbin({ preset, window: 24000 }).fit(said);
  const first = prompt.messages[0].message.parts[0].text.slice(0, 60).replaceAll('\\n', ' ');
  console.log(preset.padEnd(18), String(prompt.messages.length).padStart(4), String(prompt.tokens).padStart(6), compacted, first);
}
`;
  agent.round('Now the experiment.', {
    tool: 'write_file',
    args: { path: 'compare.mjs', content: script },
  });
  agent.round(null, {
    tool: 'run',
    args: { command: 'node --conditions=@bobbin/source compare.mjs' },
  });
  agent.say(
    'Every preset fits the window; they differ in what they keep. The windows drop, the others summarise, and the prompt begins with the summary or with the first user message. The table above is from the run; compare.mjs is mine and can go.',
  );
}

function readDoor(agent: ScriptedAgent): void {
  agent.user(
    'A host calls append and prompt a thousand times on one thread. What is kept between the calls, and what would grow?',
  );
  readAll(agent, 'What a host holds in its hands is the door.', 'packages/core/src/door/*.ts');
  readAll(agent, 'And what it measures itself with.', 'bench/*.ts');
  agent.round(null, search('new (Map|WeakMap|Set)', 'packages/core/src'), {
    tool: 'run',
    args: { command: 'node --conditions=@bobbin/source bench/step.bench.ts' },
  });
  agent.say(
    'A handle keeps the thread, the plan and a builder that has rendered everything once, so a step costs what is new. Counts are remembered per message in WeakMaps. What grows is the list of messages itself: reading it touches each one, as sending it does. The figures above are from the benchmark.',
  );
}

function readSummaries(agent: ScriptedAgent): void {
  agent.user(
    'Can anything under summary/ turn the text of a tool into an instruction to the model?',
  );
  readAll(agent, 'I read the whole room for that.', 'packages/core/src/summary/*.ts');
  agent.round(null, search("by: '(user|assistant|tool)'", 'packages/core/src/summary'));
  agent.say(
    'I found no way. Facts and constraints are taken from what the user said; what a tool said enters as a note or an outcome that names its source. Still open: a user who pastes tool output says it as the user.',
  );
}

function writeDocs(agent: ScriptedAgent): void {
  agent.user('Write docs/outline.md in the style of the other pages, at most 20 lines.');
  readAll(agent, 'Their style first.', 'docs/*.md');
  agent.round(null, read(OUTLINE));
  const page = `# Outline\n\n\`outline(messages)\` tells a conversation in one entry a turn: number, messages, calls, failed results, and the first words\nof what was asked. What comes before the first user message is turn 0.\n\n- It reads and never changes; the same messages give the same outline.\n- Words are cut between graphemes, so that no emoji is halved.\n- A failed result is one whose outcome is \`failure\`.\n`;
  agent.round(null, { tool: 'write_file', args: { path: 'docs/outline.md', content: page } });
  agent.say('docs/outline.md is there: nine lines, in the voice of the other pages.');
}

function checkEverything(agent: ScriptedAgent): void {
  agent.user('Run types, lint and the import rules. Mend what is yours, leave the rest.');
  agent.round(
    null,
    { tool: 'run', args: { command: 'node node_modules/typescript/bin/tsc -b packages/core' } },
    {
      tool: 'run',
      args: { command: `node node_modules/oxlint/bin/oxlint ${OUTLINE} ${OUTLINE_TEST}` },
    },
    { tool: 'run', args: { command: 'node scripts/house/check.ts' } },
  );
  agent.round(
    'The rules behind that last line.',
    read('scripts/house/rules.ts'),
    read('scripts/steps.mjs'),
  );
  agent.round(
    null,
    {
      tool: 'run',
      args: { command: 'git status --short 2>&1 | head -5; wc -l packages/core/src/thread/*.ts' },
    },
    RUN_TEST,
  );
  agent.say(
    'Types, lint and import rules hold for the new files. Nothing that was there before has changed.',
  );
}

function readCodecs(agent: ScriptedAgent): void {
  agent.user(
    'How do the codecs carry what they do not understand? I want to know before we add a format.',
  );
  readAll(agent, 'I read them all.', 'packages/codecs/src/*.ts');
  agent.round(null, search('opaque', 'packages'), read('packages/core/src/ports.ts'));
  agent.say(
    'Three ways: unknown fields of a message go to `extra` and enter its id; an unknown part becomes an opaque part, and a message that holds one is never compacted; and the original stands beside the parsed form, so that what is kept is sent as it came.',
  );
}

function addTokens(agent: ScriptedAgent): void {
  agent.user('Back to the outline (BOB-417): add the tokens of each turn, by any Counter.');
  readAll(agent, 'What a counter is.', 'packages/core/src/tokens/*.ts');
  agent.round(
    null,
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE_TEST,
        old: "test('words are never",
        new: "test('a counter adds the tokens of each turn', () => {\n  const [told] = outline([textMessage('user', 'Fix the test'), call], chars4());\n  assert.equal(told?.tokens, 5 + 9);\n});\n\ntest('words are never",
      },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE_TEST,
        old: 'import { textMessage,',
        new: 'import { chars4, textMessage,',
      },
    },
  );
  agent.round(null, RUN_TEST);
  agent.round(
    'A room imports only rooms to its left, and `tokens` is to the right of `thread`: the counter must come in as a plain function. I change the test to that.',
    {
      tool: 'edit_file',
      args: { path: OUTLINE_TEST, old: 'call], chars4());', new: 'call], chars4().message);' },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'export function outline(messages: readonly Message[])',
        new: 'export function outline(\n  messages: readonly Message[],\n  tokensOf?: (message: Message) => number,\n)',
      },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'turns.push(joined(last, message));',
        new: 'turns.push(counted(joined(last, message), tokensOf?.(message)));',
      },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: '  readonly asked: string;\n',
        new: '  readonly asked: string;\n  readonly tokens?: number;\n',
      },
    },
    {
      tool: 'edit_file',
      args: {
        path: OUTLINE,
        old: 'const segmenter',
        new: 'function counted(turn: TurnOutline, tokens: number | undefined): TurnOutline {\n  return tokens === undefined ? turn : { ...turn, tokens: (turn.tokens ?? 0) + tokens };\n}\n\nconst segmenter',
      },
    },
  );
  agent.round(null, RUN_TEST, read(OUTLINE));
  agent.say(
    'outline() takes a function that counts a message; `chars4().message` is one. It could not take a Counter: `thread` may not import `tokens`.',
  );
}

function wrapUp(agent: ScriptedAgent): void {
  agent.user('Good. What is left to do before the release, and which files are new?');
  agent.round(
    null,
    {
      tool: 'run',
      args: {
        command: `ls -l docs/outline.md ${OUTLINE} ${OUTLINE_TEST} compare.mjs | awk '{print $5, $9}'`,
      },
    },
    RUN_TEST,
  );
}
