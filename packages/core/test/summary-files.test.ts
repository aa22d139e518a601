import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message, Summary } from '@bobbin/core';
import {
  chars4,
  extract,
  renderSummary,
  verify,
  type Node,
  type Outcome,
} from '@bobbin/core/internal';
import { assistant, call, result, thread, user } from '@bobbin/testing';

const counter = chars4();

function nodesOf(messages: readonly Message[]): readonly Node[] {
  return thread(...messages).path();
}

function extracted(messages: readonly Message[], previous: Summary | null = null): Summary {
  const nodes = nodesOf([user('Go.'), ...messages]);
  return extract({ nodes, previous, task: 'Go.', round: 1, maxTokens: 2_000, counter });
}

/** A call and what came back. */
function round(
  tool: string,
  args: Record<string, unknown>,
  output = 'ok',
  outcome?: Outcome,
): readonly Message[] {
  const asked = call(tool, args as never);
  const answer = result(asked, output);
  if (outcome === undefined) return [assistant(asked), answer];
  const parts = answer.parts.map((part) => (part.kind === 'result' ? { ...part, outcome } : part));
  return [assistant(asked), { ...answer, parts }];
}

/** Each file with what happened to it: `path: read, edited`. */
function files({ files: records }: Summary): readonly string[] {
  return records.map((file) => {
    const done = (['read', 'written', 'edited', 'deleted'] as const).filter((verb) => file[verb]);
    return `${file.path}: ${done.join(', ')}`;
  });
}

const bash = (command: string, output = '', outcome?: Outcome): readonly Message[] =>
  round('bash', { command }, output, outcome);

test('C6 files that share their last two names are two files', () => {
  const messages = [
    ...round('Write', { file_path: '/repo/packages/core/src/index.ts', content: 'x' }),
    ...bash('rm /repo/packages/gateway/src/index.ts'),
  ];
  const truth = extracted(messages);
  assert.deepEqual(files(truth), [
    '/repo/packages/core/src/index.ts: written',
    '/repo/packages/gateway/src/index.ts: deleted',
  ]);
  const prose = 'The export was added to /repo/packages/core/src/index.ts.';
  const nodes = nodesOf([user('Go.'), ...messages]);
  const grounds = { nodes, previous: null, truth, maxTokens: 2_000, counter };
  const { summary, corrections } = verify({ ...truth, prose }, grounds);
  assert.deepEqual([summary.prose, corrections], [prose, []]);
});

test('C6 a path and its end are one file, in the next round too', () => {
  const first = extracted([
    ...round('Read', { file_path: 'src/index.ts' }),
    ...round('Read', { file_path: '/repo/packages/core/src/index.ts' }),
    ...round('Edit', { file_path: './src/index.ts', old_string: 'a', new_string: 'b' }),
    ...round('Read', { file_path: '/repo/packages/cli/src/index.ts' }),
  ]);
  assert.deepEqual(files(first), [
    '/repo/packages/core/src/index.ts: read, edited',
    '/repo/packages/cli/src/index.ts: read',
  ]);
  const second = extracted(bash('rm /repo/packages/cli/src/index.ts'), first);
  assert.deepEqual(files(second).toSorted(), [
    '/repo/packages/cli/src/index.ts: read, deleted',
    '/repo/packages/core/src/index.ts: read, edited',
  ]);
});

/** A call under an id that says nothing, and what came back. */
const deploy = (target: string, answer: string): readonly Message[] => {
  const asked = { ...call('deploy', { target }), callId: 'REDACTED' };
  return [assistant(asked), result(asked, answer)];
};

test('C6 a result belongs to the call before it, also where a call id recurs', () => {
  const s = extracted([
    ...deploy('STAGING_1107', 'Error: quota QUOTA_8813 is used up on the staging cluster'),
    ...deploy('PREVIEW_4417', 'deployed release RELEASE_3301 to the preview cluster'),
    ...deploy('PRODUCTION_2290', 'deployed release RELEASE_5521 to the production cluster'),
  ]);
  assert.deepEqual(
    s.outcomes.map(({ call: asked, outcome }) => [asked, outcome]),
    [
      ['{"target":"STAGING_1107"}', 'failure'],
      ['{"target":"PREVIEW_4417"}', 'success'],
      ['{"target":"PRODUCTION_2290"}', 'success'],
    ],
  );
  const lines = renderSummary(s).split('\n');
  assert.deepEqual(
    lines.filter((line) => /^- \[m[46]\]|RELEASE/.test(line)),
    [
      '- [m4] deploy {"target":"PREVIEW_4417"}',
      '· deployed release RELEASE_3301 to the preview cluster',
      '- [m6] deploy {"target":"PRODUCTION_2290"}',
      '· deployed release RELEASE_5521 to the production cluster',
    ],
  );
});

test('C6 calls of one message that share an id are answered in their order', () => {
  const [one, two] = [{ path: '/repo/a/one.ts' }, { path: '/repo/a/two.ts' }].map((args) => ({
    ...call('delete_file', args as never),
    callId: 'same',
  }));
  assert.ok(one !== undefined && two !== undefined);
  const s = extracted([
    assistant(one, two),
    result(one, '[error] File is locked'),
    result(two, 'deleted'),
  ]);
  assert.deepEqual(files(s), ['/repo/a/two.ts: deleted']);
});

test('C6 what failed changed no file', () => {
  const s = extracted([
    ...round('Write', { file_path: '/repo/src/a.ts', content: 'x' }, 'denied', 'failure'),
    ...round(
      'Edit',
      { file_path: '/repo/src/b.ts', old_string: 'a', new_string: 'b' },
      '<tool_use_error>File has not been read yet.</tool_use_error>',
    ),
    ...bash('rm /repo/src/c.ts', 'rm: /repo/src/c.ts: No such file or directory'),
    ...bash('rm /repo/src/d.ts && npm test', 'Exit code 1\n2 tests failed'),
    ...round('Read', { file_path: '/repo/src/e.ts' }, 'Error: is thrown by the caller'),
  ]);
  assert.deepEqual(files(s), ['/repo/src/d.ts: deleted', '/repo/src/e.ts: read']);
});

test('C6 a patch is read with every file in it', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: src/new.ts',
    '+export {};',
    '*** Update File: src/old.ts',
    '*** Move to: src/moved.ts',
    '@@',
    '*** Update File: src/kept.ts',
    '@@',
    '*** Delete File: src/gone.ts',
    '*** End Patch',
  ].join('\n');
  const expected = [
    'src/new.ts: written',
    'src/old.ts: deleted',
    'src/moved.ts: written',
    'src/kept.ts: edited',
    'src/gone.ts: deleted',
  ];
  assert.deepEqual(files(extracted(round('apply_patch', { input: patch }))), expected);
  assert.deepEqual(files(extracted(bash(`apply_patch <<'EOF'\n${patch}\nEOF`))), expected);
});

test('C6 a long patch is read to its last file', () => {
  const lines = Array.from({ length: 4_000 }, (_, i) => `+line ${i} of a long new file`);
  const patch = [
    '*** Begin Patch',
    '*** Add File: src/big.ts',
    ...lines,
    '*** Update File: src/small.ts',
    '+one more',
    '*** Delete File: src/old.ts',
    '*** End Patch',
  ].join('\n');
  assert.deepEqual(files(extracted(round('apply_patch', { input: patch }))), [
    'src/big.ts: written',
    'src/small.ts: edited',
    'src/old.ts: deleted',
  ]);
});

test('C6 what a shell command does to files is read from it', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "cat > src/new.ts <<'EOF'\nrm src/not.ts\nEOF": ['src/new.ts: written'],
    'echo "a > b" >> notes/log.md': ['notes/log.md: edited'],
    'npm test > out/test.log 2>&1; tail -20 out/test.log': ['out/test.log: read, written'],
    "sed -i 's/a.b/c.d/' src/a.ts src/b.ts": ['src/a.ts: edited', 'src/b.ts: edited'],
    "sed -i '' -e 's/a/b/' src/a.ts": ['src/a.ts: edited'],
    "sed -n '1,20p' src/a.ts | grep x": ['src/a.ts: read'],
    'mv src/a.ts src/b.ts': ['src/a.ts: deleted', 'src/b.ts: written'],
    'git mv src/a.ts lib/': ['src/a.ts: deleted', 'lib/a.ts: written'],
    'rm -rf src/a.ts "src/b c.ts"': ['src/a.ts: deleted', 'src/b c.ts: deleted'],
    'cd packages/core; rm src/a.ts': ['packages/core/src/a.ts: deleted'],
    'cd /repo && sudo git rm -q src/a.ts': ['/repo/src/a.ts: deleted'],
    'cp src/a.ts src/b.ts': ['src/a.ts: read', 'src/b.ts: written'],
    'make 2>&1 | tee out/make.log': ['out/make.log: written'],
    'rm src/*.ts "$OUT" && ls > /dev/null': [],
    'grep -rn "cat src/a.ts" .': [],
  };
  for (const [command, expected] of Object.entries(cases))
    assert.deepEqual(files(extracted(bash(command))), expected, command);
  const listed = round('shell', { command: ['bash', '-lc', 'cat src/a.ts'], workdir: '/repo' });
  assert.deepEqual(files(extracted(listed)), ['/repo/src/a.ts: read']);
});

const edit = (path: string): readonly Message[] =>
  round('Edit', { file_path: path, old_string: 'a', new_string: 'b' });

test('C6 of the files that a task names, those are listed that were not changed yet, of the kinds that were', () => {
  const task =
    'Widen `src/table.ts`, `src/printer.ts` and src/queue.ts. Leave vendor.ts alone. The test is printer.test.ts; see notes.md and data.json.';
  const state = (...done: readonly string[]): readonly string[] => stateAfter(done.flatMap(edit));
  const stateAfter = (messages: readonly Message[]): readonly string[] => {
    const nodes = nodesOf([user(task), ...messages]);
    const text = renderSummary(extract({ nodes, previous: null, task, round: 1 }));
    return text.split('\n').filter((line) => line.startsWith('- Named in the task'));
  };
  assert.deepEqual(state('/repo/src/table.ts', '/repo/src/printer.ts'), [
    '- Named in the task, not changed so far: queue.ts, printer.test.ts',
  ]);
  const looked = round('Read', { file_path: '/repo/src/queue.ts' }, 'queue();');
  const both = [...edit('/repo/src/table.ts'), ...edit('/repo/src/printer.ts')];
  // What was read while files were changed needs no change.
  assert.deepEqual(stateAfter([...both, ...looked]), [
    '- Named in the task, not changed so far: printer.test.ts',
  ]);
  assert.deepEqual(
    stateAfter([...looked, ...both]),
    state('/repo/src/table.ts', '/repo/src/printer.ts'),
  );
  assert.deepEqual(state('/repo/src/table.ts'), []);
  assert.deepEqual(state('/repo/src/table.ts', '/repo/Makefile'), []);
});

test('C6 the files that no check has seen are named, once with those since a commit', () => {
  const text = renderSummary(
    extracted([
      ...edit('/repo/a.ts'),
      ...bash('npm test', '20 tests passed'),
      user('Now the other one.'),
      assistant('On it.'),
      user('And quickly, please.'),
      ...edit('/repo/b.ts'),
    ]),
  );
  assert.match(
    text,
    /\n- Changed for the request in m8: b\.ts\n\n## Open Work at m10\n- Last request \[m8\], in progress: “And quickly, please.”\n- Changed after the last check \(m4: npm test\): b\.ts$/,
  );
  const checked = renderSummary(
    extracted([...edit('/repo/a.ts'), ...bash('npm test', '20 tests passed')]),
  );
  assert.doesNotMatch(checked, /- Changed /);
});

test('C6 an edit is part of what is declared around it, not of code in a text', () => {
  const lines = [
    'func TestThree(t *testing.T) {',
    '  ask(`Write',
    '  func Three() int',
    '  `)',
    '  assertNothing(t)',
  ];
  const { files: records } = extracted([
    ...round('Read', { file_path: '/repo/three_test.go' }, lines.join('\n')),
    ...round('Edit', {
      file_path: '/repo/three_test.go',
      old_string: '  assertNothing(t)',
      new_string: '  check(t)\n  close(t)',
    }),
  ]);
  assert.equal(records[0]?.note, 'changes TestThree');
});
