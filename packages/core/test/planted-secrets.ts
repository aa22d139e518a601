/** A text with a secret in it. */
export interface Planted {
  readonly name: string;
  readonly text: string;
  readonly secret: string;
}

/** Put together here, so that no scanner takes this file for a leak. */
function made(...pieces: readonly string[]): string {
  return pieces.join('');
}

function planted(name: string, secret: string, text: (secret: string) => string): Planted {
  return { name, text: text(secret), secret };
}

/** Characters that nobody chose, the same in every run. */
function random(length: number, alphabet: string, seed: number): string {
  let state = seed;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += alphabet.charAt((state >> 8) % alphabet.length);
  }
  return text;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const ALNUM = LOWER + UPPER + DIGITS;

const LETTERS = 'correcthorsebattery';

/** Keys that a service issues, by how they begin. */
const ISSUED: readonly Planted[] = [
  planted('OpenAI', made('sk-', 'proj-', random(48, ALNUM, 1)), (s) => `OPENAI: ${s}`),
  planted('Anthropic', made('sk-', 'ant-api03-', random(93, ALNUM, 2), 'AA'), (s) => `use ${s}`),
  planted('AWS id', made('AK', 'IA', random(16, `${UPPER}234567`, 3)), (s) => `id ${s}`),
  planted('GitHub', made('gh', 'p_', random(36, ALNUM, 4)), (s) => `git clone with ${s}`),
  planted('GitHub fine', made('github', '_pat_', random(82, ALNUM, 5)), (s) => `"${s}"`),
  planted('GitLab', made('gl', 'pat-', random(20, ALNUM, 6)), (s) => `(${s})`),
  planted('Slack', made('xo', 'xb-123456789012-', random(24, ALNUM, 7)), (s) => `slack ${s}`),
  planted('Slack hook', made('T0123ABCD/B0123ABCD/', random(24, ALNUM, 8)), (s) =>
    made('https://hooks.slack', '.com/services/', s),
  ),
  planted('Google', made('AI', 'za', random(35, ALNUM, 9)), (s) => `maps: ${s}`),
  planted('Stripe', made('sk', '_live_', random(24, ALNUM, 10)), (s) => `stripe ${s}`),
  planted('npm', made('npm', '_', random(36, ALNUM, 11)), (s) => `//host/:_authToken=${s}`),
  planted('PyPI', made('pypi', '-', random(160, ALNUM, 12)), (s) => `password = ${s}`),
  planted('Hugging Face', made('h', 'f_', random(34, ALNUM, 13)), (s) => s),
  planted('DigitalOcean', made('dop', '_v1_', random(64, HEX, 14)), (s) => s),
  planted('Shopify', made('shp', 'at_', random(32, HEX, 15)), (s) => s),
  planted('SendGrid', made('S', 'G.', random(22, ALNUM, 16), '.', random(43, ALNUM, 17)), (s) => s),
  planted('Telegram', made('123456789', ':', 'AA', random(33, ALNUM, 18)), (s) => `bot ${s} runs`),
  planted(
    'Discord',
    made('M', random(25, ALNUM, 19), '.G', random(5, ALNUM, 20), '.', random(38, ALNUM, 21)),
    (s) => `client.login("${s}")`,
  ),
  planted('Discord hook', random(68, ALNUM, 22), (s) =>
    made('https://discord', '.com/api/webhooks/', '123456789012345678/', s),
  ),
  planted('Mailgun', made('key', '-', random(32, HEX, 23)), (s) => `api:${s}`),
  planted(
    'Mailgun private',
    made(random(32, HEX, 24), '-', random(8, HEX, 25), '-', random(8, HEX, 26)),
    (s) => `mailgun ${s} sends`,
  ),
  planted('Twilio', made('S', 'K', random(32, HEX, 27)), (s) => `twilio ${s}`),
  planted('Databricks', made('dap', 'i', random(32, HEX, 28)), (s) => s),
  planted('Linear', made('lin', '_api_', random(40, ALNUM, 29)), (s) => s),
  planted('Notion', made('nt', 'n_', random(46, ALNUM, 30)), (s) => s),
  planted('Vault', made('hv', 's.', random(90, ALNUM, 31)), (s) => `vault login ${s}`),
  planted('Atlassian', made('ATA', 'TT3', random(186, ALNUM, 32)), (s) => s),
  planted('Groq', made('gs', 'k_', random(52, ALNUM, 33)), (s) => s),
  planted('xAI', made('xa', 'i-', random(80, ALNUM, 34)), (s) => s),
  planted('Perplexity', made('pp', 'lx-', random(48, ALNUM, 35)), (s) => s),
  planted('Replicate', made('r', '8_', random(37, ALNUM, 36)), (s) => s),
  planted(
    'Azure storage',
    made(random(86, ALNUM, 37), '=='),
    (s) => `AccountKey=${s};EndpointSuffix=core`,
  ),
  planted('Grafana', made('gl', 'sa_', random(32, ALNUM, 38), '_', random(8, HEX, 39)), (s) => s),
  planted(
    'JWT',
    made(
      'ey',
      'J',
      random(30, ALNUM, 40),
      '.',
      'ey',
      'J',
      random(60, ALNUM, 41),
      '.',
      random(43, ALNUM, 42),
    ),
    (s) => `id_token ${s}`,
  ),
  planted('PEM', made('MII', random(300, ALNUM, 43)), (s) =>
    made('-----BEGIN RSA ', 'PRIVATE KEY-----\n', s, '\n-----END RSA ', 'PRIVATE KEY-----'),
  ),
];

/** Values that only their name gives away. */
const NAMED: readonly Planted[] = [
  planted('XML element', LETTERS, (s) => `<user>ada</user><password>${s}</password>`),
  planted(
    'XML of Maven',
    'kR4tz-baum',
    (s) => `<server><id>x</id><password>${s}</password></server>`,
  ),
  planted('XML key', random(24, ALNUM, 50), (s) => `<apiKey>${s}</apiKey>`),
  planted('XML attribute', LETTERS, (s) => `<add name="db" password="${s}" />`),
  planted('typed constant', random(24, ALNUM, 51), (s) => `const apiKey: string = '${s}';`),
  planted('typed password', LETTERS, (s) => `let password: string = "${s}";`),
  planted('Rust constant', random(24, ALNUM, 52), (s) => `const API_KEY: &str = "${s}";`),
  planted('Go variable', LETTERS, (s) => `var password string = "${s}"`),
  planted('netrc', LETTERS, (s) => `machine api.test login ada password ${s}`),
  planted('netrc lines', 'hunter2', (s) => `machine api.test\n  login ada\n  password ${s}\n`),
  planted(
    'Docker auth',
    made('YWRh', 'OmNvcnJlY3Rob3JzZQ=='),
    (s) => `{"auths":{"reg.test":{"auth":"${s}"}}}`,
  ),
  planted(
    'query key',
    random(20, LOWER + DIGITS, 53),
    (s) => `GET https://x.test/v1/maps?key=${s}&q=a`,
  ),
  planted(
    'query sig',
    made(random(43, ALNUM, 54), '%3D'),
    (s) => `https://x.test/blob?sv=2024&sig=${s}`,
  ),
  planted('spaced name', random(20, LOWER + DIGITS, 55), (s) => `api key : ${s}`),
  planted('spaced name, capital', random(32, HEX, 56), (s) => `API Key: ${s}`),
  planted('secret access key', random(40, ALNUM, 57), (s) => `Secret access key: ${s}`),
  planted('letters, quoted', LETTERS, (s) => `password: "${s}"`),
  planted('letters, bare', 'correcthorse', (s) => `password: ${s}`),
  planted('letters, environment', 'correcthorse', (s) => `DB_PASSWORD=${s}`),
  planted('letters, YAML', 'trustnoone', (s) => `db:\n  user: ada\n  password: ${s}\n  port: 5432`),
  planted('letters, said', 'swordfish', (s) => `The password is "${s}".`),
  planted('letters, said bare', 'Swordfishes', (s) => `my password is ${s}`),
  planted('JSON password', LETTERS, (s) => `{"user":"ada","password":"${s}"}`),
  planted('escaped JSON', LETTERS, (s) => String.raw`{\"password\":\"` + s + String.raw`\"}`),
  planted('header', random(24, LOWER, 58), (s) => `X-Api-Key: ${s}`),
  planted('bearer', random(40, ALNUM, 59), (s) => `Authorization: Bearer ${s}`),
  planted('basic', made('YWRh', 'OmNvcnJlY3Rob3JzZQ=='), (s) => `Authorization: Basic ${s}`),
  planted('URL', LETTERS, (s) => `postgres://ada:${s}@db.test:5432/app`),
  planted('curl', LETTERS, (s) => `curl -u ada:${s} https://x.test`),
  planted('mysql', LETTERS, (s) => `mysql -u root -p${s} app`),
  planted('flag', 'hunter2!', (s) => `tool --password ${s} --host db`),
  planted('ini', LETTERS, (s) => `[db]\npassword = ${s}\n`),
  planted('properties', 'kR4tz-baum', (s) => `spring.datasource.password=${s}`),
  planted('PowerShell', LETTERS, (s) => `$Password = "${s}"`),
  planted('Python argument', LETTERS, (s) => `connect(user='ada', password='${s}')`),
  planted('SQL', 'kR4tz-baum', (s) => `ALTER USER ada WITH PASSWORD '${s}';`),
  planted('SQL identified', LETTERS, (s) => `CREATE USER ada IDENTIFIED BY '${s}';`),
  planted('pgpass', 'kR4tz-baum', (s) => `db.test:5432:app:ada:${s}`),
  planted('htpasswd', made('$2y$', '05$', random(53, ALNUM, 60)), (s) => `ada:${s}`),
  planted('random run', random(44, ALNUM, 61), (s) => `session ${s} ended`),
];

export const PLANTED: readonly Planted[] = [...ISSUED, ...NAMED];
