import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { SESSIONS, SUMMARY } from './audit-sessions.ts';
import { bobbinOnTerminal, folder, here } from './run.ts';

/** A folder with one session file. */
function withSession(t: TestContext, text: string): string {
  const cwd = folder(t);
  writeFileSync(join(cwd, 'session.jsonl'), text);
  return cwd;
}

const run = (cwd: string, ...args: readonly string[]) =>
  here(['audit', 'session.jsonl', '--counter', 'chars4', ...args], { cwd });

const LEGEND = `
  exact: the same string is in what the agent was given. alike: most of its
  words are in one sentence of it, or the name of the file, or the program.
  lost: neither. This compares strings: whether other words say the same, only a
  reader can judge.
  used: the agent itself says or calls it after the compaction.
  The items are found by the rules by which Bobbin makes its own summaries.
  Bobbin had the same size and no model. What its prompt lacks stays in the
  thread, where recall finds it.
`;

const TABLE = `
                                   the summary                    Bobbin
               items   exact alike  lost  used   exact alike  lost  used
  rules            2       0     0     2     0       2     0     0     0
  decisions        1       0     0     1     0       1     0     0     0
  paths            1       1     0     0     0       1     0     0     0
  commands         1       0     0     1     1       1     0     0     0
  numbers          1       0     0     1     1       1     0     0     0
  open items       1       0     1     0     0       1     0     0     0
  all              7       1     1     5     2       7     0     0     0

  Lost by the summary: 5 items
  said   class      used   Bobbin  item
`;

/** What differs between the formats: the facts, the sizes, and where each lost item was said. */
const EXPECTED: Readonly<Record<string, string>> = {
  'claude-code': `session.jsonl
  claude-code · 10 messages · 1 compaction · tokens by chars4 for claude-test

Compaction 1, after m9, 2026-01-02 03:04 UTC
  5,000 tokens became 339; Bobbin takes N.
${TABLE}  m6     command    m10    exact   npm run e2e
  m1     number     m10    exact   NET-4711
  m1     rule       –      exact   Never change the public API.
  m1     rule       –      exact   My key is [redacted]: do not print [redacted…
  m4     decision   –      exact   I decided to use a retry with jitter instead…
${LEGEND}`,
  codex: `session.jsonl
  codex · 12 messages · 1 compaction · tokens by chars4

Compaction 1, after m11, 2026-01-02 03:04 UTC
  758 tokens became 339; Bobbin takes N.
${TABLE}  m8     command    m12    exact   npm run e2e
  m1     number     m12    exact   NET-4711
  m1     rule       –      exact   Never change the public API.
  m1     rule       –      exact   My key is [redacted]: do not print [redacted…
  m5     decision   –      exact   I decided to use a retry with jitter instead…
${LEGEND}`,
  pi: `session.jsonl
  pi · 10 messages · 1 compaction · tokens by chars4

Compaction 1, after m9, 2026-01-02 03:04 UTC
  5,000 tokens became 346; Bobbin takes N.
${TABLE}  m6     command    m10    exact   npm run e2e
  m1     number     m10    exact   NET-4711
  m1     rule       –      exact   Never change the public API.
  m1     rule       –      exact   My key is [redacted]: do not print [redacted…
  m4     decision   –      exact   I decided to use a retry with jitter instead…
${LEGEND}`,
  opencode: `session.jsonl
  opencode · 10 messages · 1 compaction · tokens by chars4 for claude-test

Compaction 1, after m9, 2026-01-02 03:04 UTC
  754 tokens became 339; Bobbin takes N.
${TABLE}  m6     command    m10    exact   npm run e2e
  m1     number     m10    exact   NET-4711
  m1     rule       –      exact   Never change the public API.
  m1     rule       –      exact   My key is [redacted]: do not print [redacted…
  m4     decision   –      exact   I decided to use a retry with jitter instead…
${LEGEND}`,
};

for (const [format, session] of Object.entries(SESSIONS))
  test(`audit shows what a compaction of ${format} lost, and what Bobbin keeps`, async (t) => {
    const shown = await run(withSession(t, session()));
    // The length of Bobbin's own text changes with every change to summaries.
    const stdout = shown.stdout.replace(/Bobbin takes \d+/, 'Bobbin takes N');
    assert.deepEqual({ ...shown, stdout }, { status: 0, stdout: EXPECTED[format], stderr: '' });
  });

const [session] = Object.values(SESSIONS) as [(summary?: string, asked?: string) => string];

test('an audit as data has every item with its place, and no secret', async (t) => {
  const cwd = withSession(t, session());
  const { stdout } = await run(cwd, '--json');
  assert.doesNotMatch(stdout, /sk-abcdef/);
  const { totals, sessions } = JSON.parse(stdout) as {
    totals: readonly { class: string; said: number; agentNeeded: number }[];
    sessions: readonly { file: string; compactions: readonly { items: readonly object[] }[] }[];
  };
  assert.deepEqual(totals.at(-1), {
    class: 'all',
    said: 7,
    agent: { exact: 1, alike: 1, absent: 5 },
    bobbin: { exact: 7, alike: 0, absent: 0 },
    agentNeeded: 2,
    bobbinNeeded: 0,
  });
  assert.equal(sessions[0]?.file, 'session.jsonl');
  const items = sessions[0]?.compactions[0]?.items ?? [];
  assert.deepEqual(items.slice(2), [
    {
      class: 'decision',
      text: 'I decided to use a retry with jitter instead of a longer timeout.',
      by: 'assistant',
      at: 3,
      agent: 'absent',
      bobbin: 'exact',
    },
    {
      class: 'path',
      text: 'src/net/client.ts',
      by: 'assistant',
      at: 3,
      agent: 'exact',
      bobbin: 'exact',
    },
    {
      class: 'command',
      text: 'npm run e2e',
      by: 'assistant',
      at: 5,
      kind: 'npm run e2e',
      agent: 'absent',
      bobbin: 'exact',
      neededAt: 9,
    },
    {
      class: 'number',
      text: 'NET-4711',
      by: 'user',
      at: 0,
      agent: 'absent',
      bobbin: 'exact',
      neededAt: 9,
    },
    {
      class: 'open item',
      text: 'Document the retry for operators',
      by: 'assistant',
      at: 7,
      agent: 'alike',
      bobbin: 'exact',
    },
  ]);
});

test('the page holds hostile text of a session as text, loads nothing and runs nothing', async (t) => {
  const hostile = `Never run "<svg onload='alert(2)'> & <script>alert(1) \u202Eevil in 'prod'.`;
  const cwd = withSession(t, session(SUMMARY, hostile));
  const { status, stderr } = await run(cwd, '--html', 'report.html');
  assert.deepEqual([status, stderr], [0, 'bobbin: the report is in report.html\n']);
  const page = readFileSync(join(cwd, 'report.html'), 'utf8');
  assert.ok(
    page.includes(
      'Never run &quot;&lt;svg onload=&#39;alert(2)&#39;&gt; &amp; &lt;script&gt;alert(1) \\u{202e}evil in &#39;prod&#39;.',
    ),
  );
  assert.doesNotMatch(page, /<script|<svg|<img|<link|\u202E|https?:|url\(|@import/);
  assert.match(page, /default-src 'none'/);
  const tags = new Set(page.match(/<\/?[a-z]\w*/g)?.map((tag) => tag.replace(/^<\/?/, '')));
  assert.deepEqual(
    [...tags].toSorted(),
    `b body details div footer h1 h3 head html i li main meta p span style summary table tbody td th thead title tr ul`.split(
      ' ',
    ),
  );
});

test('a page is never written over a session, and a failure leaves no page', async (t) => {
  const cwd = withSession(t, session());
  assert.deepEqual(await run(cwd, '--html', 'session.jsonl'), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: --html session.jsonl is a session that is read; see bobbin audit --help\n',
  });
  const missing = await run(cwd, '--html', join('none', 'report.html'));
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /^bobbin: none\/report\.html: no such file or directory\n$/);
});

function beforeCompaction(text: string): string {
  const lines = text.split('\n');
  return lines
    .slice(
      0,
      lines.findIndex((line) => line.includes('compact_boundary')),
    )
    .join('\n');
}

test('a session without a compaction says so, and what one would do', async (t) => {
  const short = withSession(t, beforeCompaction(session()));
  assert.equal(
    (await run(short)).stdout,
    'session.jsonl\n  claude-code, 9 messages: no compaction in it, and too short to need one.\n',
  );
  const asked = `Read this. ${'word '.repeat(20_000)}`;
  const long = withSession(t, beforeCompaction(session(SUMMARY, asked)));
  assert.match(
    (await run(long)).stdout.replaceAll(/\s+/g, ' '),
    /no compaction in it\. In a window of 16,000 tokens Bobbin would make [\d,]+ of its 25,\d+; bobbin replay session\.jsonl --window 16000 shows the requests\. $/,
  );
});

test('the name of a session steers no terminal, neither in the progress nor in the report', async (t) => {
  const cwd = folder(t);
  const name = 's\u001B[31m\u001B[2J\u202E.jsonl';
  const asked = `Read this. ${'word '.repeat(20_000)}`;
  writeFileSync(join(cwd, name), beforeCompaction(session(SUMMARY, asked)));
  const args = ['audit', name, '--counter', 'chars4'];
  const { status, written } = await bobbinOnTerminal(args, { cwd, env: { NO_COLOR: '1' } });
  assert.equal(status, 0, written);
  const plain = 's\\u{1b}[31m\\u{1b}[2J\\u{202e}.jsonl';
  // The command itself only clears the line of its progress.
  const [progress, ...report] = written.split('\u001B[K');
  assert.equal(progress, `\rreading ${plain}`);
  const text = report.join('');
  assert.ok(text.includes(`bobbin replay ${plain} --window 16000`), text);
  assert.ok(!text.includes('\u001B') && !text.includes('\u202E'), JSON.stringify(text));
});

test('a summary that only the provider can read is not called a loss', async (t) => {
  const text = (SESSIONS['codex'] as typeof session)().replace(
    /"replacement_history":\[.*?\]\}\]/,
    '"replacement_history":[{"type":"compaction","encrypted_content":"x"}]',
  );
  const { stdout } = await run(withSession(t, text));
  assert.equal(
    stdout,
    `session.jsonl
  codex · 12 messages · 1 compaction · tokens by chars4

Compaction 1, after m11, 2026-01-02 03:04 UTC
  Only its provider can read what the agent was given.
`,
  );
});

test('what is not a session file is refused in one line', async (t) => {
  for (const garbage of ['no JSON at all', '[{"role":"user","content":"Hi"}]', '\u0000\u0001']) {
    assert.deepEqual(await run(withSession(t, garbage)), {
      status: 2,
      stdout: '',
      stderr:
        'bobbin: session.jsonl: is not a session file of Claude Code, Codex, pi, OpenCode or Bobbin\n',
    });
  }
  const damaged = session().replace('\n', '\n{"broken": \n');
  assert.deepEqual(await run(withSession(t, damaged)), {
    status: 2,
    stdout: '',
    stderr: 'bobbin: session.jsonl:2:1: line 2: must be a JSON object\n',
  });
});

test('what an earlier compaction lost does not count again, and sessions are summed up', async (t) => {
  const cwd = withSession(t, session());
  const twice = session().split('\n').filter(Boolean);
  const again = twice
    .slice(-3)
    .map((line) => line.replaceAll(/"u(\d+)"/g, (_, n: string) => `"u${Number(n) + 3}"`));
  writeFileSync(join(cwd, 'again.jsonl'), [...twice, ...again, ''].join('\n'));
  const { stdout } = await here(
    ['audit', 'again.jsonl', 'session.jsonl', '--counter', 'chars4', '--json'],
    { cwd },
  );
  const { sessions, totals } = JSON.parse(stdout) as {
    totals: readonly { said: number }[];
    sessions: readonly { compactions: readonly { items: readonly { text: string }[] }[] }[];
  };
  const texts = sessions.map(({ compactions }) =>
    compactions.map(({ items }) => items.map(({ text }) => text)),
  );
  assert.deepEqual(texts[0]?.[1], [
    'src/net/client.ts',
    'NET-4711',
    'Document the retry for operators',
  ]);
  assert.equal(totals.at(-1)?.said, 7 + 3 + 7);
});

test('on a terminal the report has bars, and progress is shown while it is made', async (t) => {
  const cwd = withSession(t, session());
  const { status, written } = await bobbinOnTerminal(['audit', 'session.jsonl'], { cwd });
  assert.equal(status, 0);
  assert.ok(written.includes('\rreading session.jsonl\u001B[K'));
  assert.ok(written.includes('\rcompaction 1 of 1 in session.jsonl\u001B[K'));
  assert.match(written, /the summary .*█.* 71 % lost/);
});

test('compact shows its progress on a terminal, and only there', async (t) => {
  const cwd = folder(t);
  const messages = Array.from({ length: 1_200 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${i}.`,
  }));
  writeFileSync(join(cwd, 'long.json'), JSON.stringify(messages));
  const args = ['compact', 'long.json', '--budget', '2000', '--out', 'small.json'];
  const { status, written } = await bobbinOnTerminal(args, { cwd });
  assert.equal(status, 0);
  assert.ok(written.includes('\rreading long.json\u001B[K'));
  assert.ok(written.includes('\rcompacting 1,200 messages\u001B[K'));
  const { stderr } = await here(args, { cwd });
  assert.doesNotMatch(stderr, /reading|compacting/);
});
