import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clear,
  drop,
  externalize,
  redactSecrets,
  type CompactionEvent,
  type Policy,
} from '@bobbin/core';
import {
  claudeCode,
  EMPTY_SUMMARY,
  ladder,
  redactSummary,
  type SummaryReport,
} from '@bobbin/core/internal';
import { assistant, call, cpuMs, result, user, WatchedThread } from '@bobbin/testing';
import { volume } from '@bobbin/testing/volume';
import { PLANTED } from './planted-secrets.ts';

/** Put together here, so that no scanner takes this file for a leak. */
const made = (...pieces: readonly string[]): string => pieces.join('');
const KEY = made('sk-', 'ant-api03-', 'Zx9Qw3Er7Ty1Ui5Op2As8Df4Gh6Jk0');
const AWS = made('wJalrXUtn', 'FEMI/K7MDENG/', 'bPxRfiCYzEXAMPLE3KEY');
const RANDOM = made('q7Zp2Lk9Vt4Xw1Rb8Ny5', 'Hc3Gd6Fs0JmQaWeUoIiPz');
const JWT = made(
  'eyJhbGciOiJIUzI1NiJ9',
  '.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  '.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
);

test('secrets never enter a summary: each pattern, at any place', () => {
  const cases: readonly (readonly [string, string])[] = [
    [`the key is ${KEY}.`, 'the key is [redacted].'],
    [made('gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'), '[redacted]'],
    [made('AK', 'IA', 'IOSFODNN7EXAMPLE'), '[redacted]'],
    [`aws_secret_access_key = ${AWS}`, 'aws_secret_access_key = [redacted]'],
    [`AWS_SECRET_ACCESS_KEY=${AWS} make`, 'AWS_SECRET_ACCESS_KEY=[redacted] make'],
    [`Authorization: Bearer ${JWT}`, 'Authorization: Bearer [redacted]'],
    ['postgres://app:s3cr3t-pw@db:5432/app', 'postgres://app:[redacted]@db:5432/app'],
    ['{"password":"correcthorse","user":"ada"}', '{"password":"[redacted]","user":"ada"}'],
    [String.raw`{\"api_key\":\"k3yV4lu3Zz\"}`, String.raw`{\"api_key\":\"[redacted]\"}`],
    ['mysql --password hunter2! --host db', 'mysql --password [redacted] --host db'],
    ['The password is hunter2, use it.', 'The password is [redacted], use it.'],
    ['DB_PASS=tr0ub4dor&3', 'DB_PASS=[redacted]'],
    ['curl -u admin:hunter https://x.test/z', 'curl -u admin:[redacted] https://x.test/z'],
    ['mysql -u root -phunter2 db', 'mysql -u root -p[redacted] db'],
    ['docker login -u me -p hunter2 reg', 'docker login -u me -p [redacted] reg'],
    ['redis://:p4ss/word@h', 'redis://:[redacted]@h'],
    ['password = "correct horse battery staple"', 'password = "[redacted]"'],
    ['client_secret: 3f2b8c1e-7d4a-4e6f-9b0c-1a2b3c4d5e6f', 'client_secret: [redacted]'],
    ['PGPASSWORD=correcthorse psql', 'PGPASSWORD=[redacted] psql'],
    ['export API_TOKEN="abcdefgh"', 'export API_TOKEN="[redacted]"'],
    ['x-api-key: abcdefghijkl', 'x-api-key: [redacted]'],
    ['api_key: 0123456789abcdef0123456789abcdef', 'api_key: [redacted]'],
    ["-H 'Cookie: sid=38afes7a8; theme=dark' -v", "-H 'Cookie: [redacted]' -v"],
    ['Authorization: token abc123def456ghi7', 'Authorization: token [redacted]'],
    [`https://x.test/cb?token=${RANDOM.slice(0, 24)}&page=2`, 'https://x.test/cb?token=[redacted]'],
    [`session ${RANDOM} ended`, 'session [redacted] ended'],
    [
      made(
        'a\n-----BEGIN RSA ',
        'PRIVATE KEY-----\nMIIE\nabc\n-----END RSA ',
        'PRIVATE KEY-----\nb',
      ),
      'a\n[redacted]\nb',
    ],
    [made('a\n-----BEGIN ', 'PRIVATE KEY-----\nMIIE cut off here'), 'a\n[redacted]'],
  ];
  for (const [text, expected] of cases) {
    assert.equal(redactSecrets(text), expected);
    assert.equal(redactSecrets(expected), expected, 'redacting twice changes nothing');
  }
});

test('21 each of the planted secrets is taken out, and what names it stays', () => {
  const left = PLANTED.filter(({ text, secret }) => redactSecrets(text).includes(secret));
  assert.deepEqual(
    left.map(({ name }) => name),
    [],
  );
  for (const { text } of PLANTED)
    assert.equal(redactSecrets(redactSecrets(text)), redactSecrets(text), 'idempotent');
  assert.equal(
    redactSecrets('machine api.test login ada password hunter\nnext'),
    'machine api.test login ada password [redacted]\nnext',
  );
  assert.equal(
    redactSecrets('<password>correcthorse</password>'),
    '<password>[redacted]</password>',
  );
});

test('redaction leaves anchors alone: hashes, ids, paths, versions, code and prose about passwords', () => {
  const anchors = [
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 on main',
    'sha256 9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
    '"integrity": "sha512-uD7FjOP+f0/S5G38O1Qoi9SMKgHtcKXCLIqsQ5XIxZ8j9MCBRqUc0Rbyt6FZNqiu6r+M=="',
    'run 3f2b8c1e-7d4a-4e6f-9b0c-1a2b3c4d5e6f failed',
    'toolu_01XFDUDYJgAACzvnptvVoYEL answered call_Yx82kLmNo93PqRsTuVwXyZab',
    'msg_68c1f0a9b7d48193a2e45f60718293a4b5c6d7e8f90a1b2c',
    'packages/core/src/summary/very-long-directory-name/AnotherQuiteLongComponentName2.test.ts',
    'org.springframework.beans.factory.support.DefaultListableBeanFactory2Implementation',
    'https://docs.google.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit',
    'password: string; token: string | undefined; secret?: Buffer',
    'const password = process.env.DB_PASSWORD; const token = req.headers.authorization',
    'the password is required and the token is invalid; password must be changed',
    'maxTokens: 8000, tokens = 93600, keepRecentTokens: 20000',
    'token: parseToken(input2), apiKey: getSecretValue("prod")',
    'export API_KEY=$OPENAI_API_KEY PASSWORD=<your-password> TOKEN=xxxxxxxx',
    'mkdir -p src/core; ssh -p 2222 host; docker run -u 1000:1000 -p8080:80 img; chown -R app:staff .',
    'MAX_TOKENS=4096 PWD=/srv/app HAS_TOKEN=true AUTH_TOKEN=$TOKEN; cookie: string',
    'http://localhost:8080/a@b.test',
    'node v24.21.0, typescript 7.0.2, port 5432, TS2304, HTTP 429',
    'src/main.ts:120:14:error:TS2304 and a.go:10:2:undefined:x',
    'github.com/spf13/pflag v1.0.9 h1:9exaQaMOCwffKiiiYk6/BndUBv+iRViNW+4lEMi0PvY=',
    'go build -o /var/folders/61/8t4pzlqd59x0ggxkn1rjnfr00000gn/T/tmp4Kd/out failed',
    'the password is required, your password was changed, the new password is different.',
    'password := values["password"]; let password: string; <password></password>',
    'https://x.test/search?key=value&sig=none&page=2',
    '{"auth":"required"} <token>abstract</token>',
    'password: required\npassword: string\npassword = userPassword',
  ];
  for (const text of anchors) assert.equal(redactSecrets(text), text);
});

test('redaction takes time linear in its input, also where every pattern nearly matches', () => {
  const nearly = [
    'password',
    'a:',
    '://a:',
    'eyJ',
    '-----BEGIN ',
    'Bearer ',
    'secret_',
    '"token" ',
    'A1b',
    'A_',
    'mysql ',
    'docker login ',
    ' -u a:',
    'cookie: ',
    'X-',
    'machine a login b ',
    '<password>',
    'password: a ',
    'my password is ',
    '?key=',
    'a:1:',
    'identified with ',
    '"auth":"',
  ];
  const chars = volume(100_000, 1_000_000);
  for (const piece of nearly) {
    const text = piece.repeat(Math.ceil(chars / piece.length));
    const took = cpuMs(() => redactSecrets(text));
    assert.ok(
      took < chars / 500,
      `${chars} characters of ${JSON.stringify(piece)} took ${Math.round(took)} ms`,
    );
  }
});

const customers = (text: string): string => text.replaceAll('ACME', '[customer]');

test('every text of a summary goes through the redaction, also a hook of the host', () => {
  const summary = {
    ...EMPTY_SUMMARY,
    task: `Deploy with ${KEY}`,
    facts: [{ kind: 'value' as const, text: `key ${KEY}`, by: 'user' as const, turn: 1 }],
    outcomes: [
      { tool: 'bash', outcome: 'success' as const, call: 'x', keyFields: { out: [KEY] }, turn: 1 },
    ],
  };
  assert.deepEqual(redactSummary(summary), {
    ...summary,
    task: 'Deploy with [redacted]',
    facts: [{ kind: 'value', text: 'key [redacted]', by: 'user', turn: 1 }],
    outcomes: [
      { tool: 'bash', outcome: 'success', call: 'x', keyFields: { out: ['[redacted]'] }, turn: 1 },
    ],
  });
  assert.equal(redactSummary({ ...summary, task: 'For ACME' }, customers).task, 'For [customer]');
});

test('what a plan says of messages goes through the redaction too: pointers, placeholders, the index of drops', async () => {
  const key = made('sk-', 'ant-api03-', 'Zx9Qw3Er7Ty1Ui5Op2As8Df4Gh6Jk0');
  for (const strategy of [clear(), externalize({ overTokens: 1 }), drop({ reach: 'everything' })]) {
    const preset: Policy = {
      ...ladder(),
      ladder: [strategy],
      trigger: { kind: 'turns', over: 0 },
      cut: { kind: 'everything' },
      stop: 'at-end',
      targetShare: 0.5,
    };
    const watched = await WatchedThread.open({
      preset,
      window: 20_000,
      redact: (text) => redactSecrets(text).replaceAll('ACME', '[customer]'),
    });
    const asked = call('bash', { command: `deploy ACME with ${key}` });
    const answered = `${key} of ACME\n${'line of the log\n'.repeat(400)}`;
    await watched.append(user('go'), assistant(asked), result(asked, answered), user('and now?'));
    const { plan } = await watched.handle.compact();
    const said = JSON.stringify(plan.records);
    assert.ok(plan.records.length > 0, strategy.name);
    assert.ok(!said.includes(key) && !said.includes('ACME'), `${strategy.name}: ${said}`);
  }
});

test('21 a key in the error of a summarizer is in no event', async () => {
  const reports: readonly SummaryReport[] = [
    { kind: 'retried', reason: `401 for ${KEY}`, waitMs: 1 },
    { kind: 'split-turn-failed', reason: `401 for ${KEY}` },
  ];
  for (const onSummaryFailure of ['extract', 'keep'] as const) {
    const seen: CompactionEvent[] = [];
    const watched = await WatchedThread.open({
      preset: { ...claudeCode, onSummaryFailure },
      window: 20_000,
      onEvent: (event) => seen.push(event),
      summarizer: {
        id: 'failing',
        summarize: (request) => {
          for (const report of reports) request.report?.(report);
          return Promise.reject(new Error(`Incorrect API key provided: ${KEY}.`));
        },
      },
    });
    await watched.append(user('go'), assistant('so it is '.repeat(400)), user('and now?'));
    const { events } = await watched.compact();
    const warnings = events.filter(({ kind }) => kind === 'warning');
    assert.match(JSON.stringify(warnings), /Incorrect API key provided: \[redacted\]/);
    assert.ok(!JSON.stringify([events, seen]).includes(KEY));
  }
});
