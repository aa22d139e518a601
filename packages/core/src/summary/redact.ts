import { jsonText } from '../message/json.ts';
import type { Summary } from '../plan/summary.ts';

/** Takes secrets out of a text. It must be idempotent, and fast: it sees every text that enters a summary. */
export type Redact = (text: string) => string;

const MARK = '[redacted]';

/** Keys that give themselves away by how they begin. */
const ISSUED = new RegExp(
  String.raw`\b(?:${[
    'sk-[A-Za-z0-9_-]{16,300}',
    '(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,200}',
    'whsec_[A-Za-z0-9+/=]{16,100}',
    'gh[pousr]_[A-Za-z0-9]{20,255}',
    'github_pat_[A-Za-z0-9_]{20,255}',
    'gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{16,100}',
    'xox[abeoprs]-[A-Za-z0-9-]{10,250}',
    'xapp-[A-Za-z0-9-]{10,250}',
    '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}',
    'AIza[A-Za-z0-9_-]{30,50}',
    String.raw`ya29\.[A-Za-z0-9_-]{20,500}`,
    'npm_[A-Za-z0-9]{30,50}',
    'pypi-[A-Za-z0-9_-]{30,300}',
    'hf_[A-Za-z0-9]{24,60}',
    'dop_v1_[a-f0-9]{32,100}',
    'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,64}',
    String.raw`SG\.[A-Za-z0-9_-]{10,40}\.[A-Za-z0-9_-]{20,60}`,
    'AGE-SECRET-KEY-1[A-Z0-9]{40,80}',
    String.raw`\d{8,10}:AA[A-Za-z0-9_-]{33}`,
    String.raw`[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}`,
    'key-[a-f0-9]{32}',
    '[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}',
    'SK[a-f0-9]{32}',
    'dapi[a-f0-9]{32}',
    'lin_api_[A-Za-z0-9]{32,60}',
    'ntn_[A-Za-z0-9]{40,60}',
    String.raw`hv[sb]\.[A-Za-z0-9_-]{24,300}`,
    'ATATT3[A-Za-z0-9_=-]{100,300}',
    'gsk_[A-Za-z0-9]{40,60}',
    'xai-[A-Za-z0-9]{60,100}',
    'pplx-[A-Za-z0-9]{40,60}',
    'r8_[A-Za-z0-9]{30,45}',
    'glsa_[A-Za-z0-9_]{32,60}',
    String.raw`eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,2000}`,
  ].join('|')})`,
  'g',
);
const HOOK =
  /(hooks\.slack\.com\/services\/|discord(?:app)?\.com\/api\/webhooks\/\d{15,21}\/)[\w/-]{20,100}/g;
const URL_PASSWORD = /(:\/\/[^\s:/@"']{0,100}:)(?!\d{1,5}\/)(?=([^\s@"']{1,200}))\2(?=@)/g;
/** A quoted phrase under a password's name. */
const PHRASE = /(pass(?:word|phrase|wd)["']?\s{0,3}[:=]\s{0,3}(["']))([^"'\n]{4,200})(?=\2)/gi;
const AUTHORIZATION =
  /\b(bearer|basic|(?<=authorization["']?:\s{0,3}["']?)token)(\s{1,3})([A-Za-z0-9._~+/=-]{16,2000})/gi;

const PASSWORD = String.raw`pass(?:word|wd|phrase|code)|passwort|pwd|(?<=[_-])pass`;
const CREDENTIAL = String.raw`secret(?:[ _-]?(?:access[ _-]?)?key)?|(?:api|access|private|auth|signing|encryption|account)[ _-]?key|token|credentials?|(?<=[_-])auth`;
/** `name = value`, `"name": "value"`, `--name value`; the quotes may be escaped, as in JSON within JSON. */
const ASSIGNED = new RegExp(
  String.raw`(?:(${PASSWORD})|${CREDENTIAL})(?:\\?["'])?(?:\s{0,3}(?:=>|:=|[:=])\s{0,3}|(?<=--[a-z-]{0,20})\s)(\\?["'\x60]?)([^\s"'\x60\\,;<>]{4,400})`,
  'gi',
);
const SAID = new RegExp(
  String.raw`\b(?:(${PASSWORD})|${CREDENTIAL})\s(?:is|was|to|will be)\s(["'\x60]?)([^\s"'\x60]{4,200})`,
  'gi',
);

/** `name: Type = "value"`, as typed languages have it, and `var name Type = "value"`. */
const TYPED = new RegExp(
  String.raw`(?:(${PASSWORD})|${CREDENTIAL})\s{0,3}:?\s{0,3}&?[A-Za-z][\w<>.|&']{0,30}\s{0,3}=\s{0,3}(["'\x60])([^"'\x60\s]{4,400})(?=\2)`,
  'gi',
);
/** `<name>value</name>`. */
const ELEMENT = new RegExp(
  String.raw`<(?:[\w.:-]{1,40})?(?:(${PASSWORD})|${CREDENTIAL})()>([^<>\s]{4,400})(?=<\/)`,
  'gi',
);
/** `PASSWORD 'value'` and `IDENTIFIED BY 'value'`, as SQL has them. */
const SQL_PASSWORD =
  /\b((?:password|identified\s(?:with\s\w{1,40}\s)?by)\s{1,3}(["']))([^"'\n]{3,200})(?=\2)/gi;
/** The line of a netrc, or its lines. */
const NETRC =
  /\b((?:machine\s{1,20}\S{1,200}|default)\s{1,20}login\s{1,20}\S{1,200}\s{1,20}password\s{1,20})(\S{1,200})/g;
const PGPASS =
  /^([\w.*-]{1,100}:(?:\d{3,5}|\*):[a-z_*][\w*-]{0,60}:[\w.-]{1,60}:)([^\s:]{4,200})$/gim;
const DOCKER_AUTH = /("auth\\?"\s{0,3}:\s{0,3}\\?")([A-Za-z0-9+/]{11,1000}={0,2})(?=\\?")/g;
const QUERY =
  /([?&](?:key|sig|signature|x-amz-signature|x-amz-security-token)=)([^&\s"'#<>\\]{8,2000})/gi;
/** A line that holds a password alone, in YAML and in settings. */
const PASSWORD_LINE =
  /^([\t ]{0,40}[\w.-]{0,60}password[\t ]{0,3}[:=][\t ]{0,3})([A-Za-z]{6,60})(?=[\t ]{0,3}$)/gim;
const SAID_LETTERS =
  /\b((?:my|the|our|your|new|old|root|admin|user|master) pass(?:word|phrase|code)s? (?:is|was|to|will be) )([A-Za-z]{6,60})(?=[.,;!]?(?:\s|$))/gi;

/** `NAME=value` in an environment, `X-Api-Key: value` in a header: the name alone says that the value is one. */
const NAMED =
  /(\b[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|CREDENTIALS?)=|\b[Xx]-[A-Za-z-]{0,40}(?:[Kk]ey|[Tt]oken|[Ss]ecret)["']?\s?:\s?)(["']?)([^\s"'\\,;<>]{4,400})/g;
const COOKIES = /\b((?:set-)?cookie["']?\s{0,3}:\s{0,3}["']?)([^\n"']{1,4000})/gi;
/** `-u name:password`, as in curl; `docker run -u 1000:1000` and `-u user:group` are something else. */
const LOGIN = /(\s(?:-u|--user|--proxy-user)[ =]{0,2}["']?[\w.@%+-]{1,80}:)([^\s"'@/]{1,200})/g;
/** `mysql -pvalue`, `sshpass -p value`. */
const CLIENT_PASSWORD =
  /\b((?:(?:mysql|mariadb)[a-z_]{0,10}(?=\s)[^\n|;&]{0,200}?\s-p|(?:sshpass|docker login|podman login)\b[^\n|;&]{0,200}?\s-p\s?)["']?)([^\s"'-][^\s"']{2,200})/g;

/**
 * Replaces secrets in a text with `[redacted]`. It finds them by known patterns, by the name of a value (such as
 * `password`), and by their entropy. Its time grows in proportion to the length of the text.
 */
export const redactSecrets: Redact = (text) =>
  withoutPrivateKeys(text)
    .replace(ISSUED, MARK)
    .replace(HOOK, `$1${MARK}`)
    .replace(URL_PASSWORD, (whole, before: string, value: string) =>
      isPlaceholder(value) ? whole : before + MARK,
    )
    .replace(AUTHORIZATION, (whole, scheme: string, gap: string, value: string) =>
      looksRandom(value) ? scheme + gap + MARK : whole,
    )
    .replace(PHRASE, (whole, before: string, _: string, value: string) =>
      value.includes(' ') && !isPlaceholder(value) ? before + MARK : whole,
    )
    .replace(NAMED, (whole, name: string, quote: string, value: string) =>
      isPlaceholder(value) || /^(?:[/.~]|\d+$)/.test(value) ? whole : name + quote + MARK,
    )
    .replace(COOKIES, (whole, name: string, value: string) =>
      value.includes('=') ? name + MARK : whole,
    )
    .replace(LOGIN, (whole, before: string, value: string, at: number, all: string) =>
      isLogin(value, all.slice(all.lastIndexOf('\n', at) + 1, at)) ? before + MARK : whole,
    )
    .replace(CLIENT_PASSWORD, `$1${MARK}`)
    .replace(NETRC, `$1${MARK}`)
    .replace(PGPASS, `$1${MARK}`)
    .replace(SQL_PASSWORD, (whole, before: string, _: string, value: string) =>
      isPlaceholder(value) ? whole : before + MARK,
    )
    .replace(DOCKER_AUTH, (whole, before: string, value: string) =>
      value.endsWith('=') || looksRandom(value) ? before + MARK : whole,
    )
    .replace(QUERY, (whole, before: string, value: string) =>
      looksRandom(value) ? before + MARK : whole,
    )
    .replace(PASSWORD_LINE, withoutLetters)
    .replace(ASSIGNED, withoutValue)
    .replace(TYPED, withoutValue)
    .replace(ELEMENT, withoutElement)
    .replace(SAID, withoutValue)
    .replace(SAID_LETTERS, withoutLetters)
    .replace(LONG_RUN, (run: string, at: number, all: string) =>
      isHighEntropy(run) && !isPath(run) && !isInUrlOrChecksum(all, at) ? MARK : run,
    );

function withoutPrivateKeys(text: string): string {
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/;
  let rest = text;
  let out = '';
  for (let at = rest.search(begin); at >= 0; at = rest.search(begin)) {
    const end = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(rest.slice(at));
    out += rest.slice(0, at) + MARK;
    rest = end === null ? '' : rest.slice(at + end.index + end[0].length);
  }
  return out + rest;
}

function withoutValue(
  whole: string,
  password: string | undefined,
  quote: string,
  value: string,
): string {
  const bare = value.replace(/[.,:)\]}]{1,9}$/, '');
  if (isPlaceholder(bare)) return whole;
  const secret =
    password === undefined ? looksRandom(bare) : isPassword(bare, quote !== '' && bare === value);
  if (!secret) return whole;
  return whole.slice(0, whole.length - value.length) + MARK + value.slice(bare.length);
}

/** Between the tags of an element a password has no quotes, and is one all the same. */
function withoutElement(
  whole: string,
  password: string | undefined,
  _: string,
  value: string,
): string {
  return withoutValue(whole, password, '"', value);
}

/** What is said of a password instead of giving it: types, states, and words by their endings. */
const NO_PASSWORD =
  /^(?:string|number|boolean|buffer|varchar|textfield|unicode|optional|hidden|prompt|inline|redacted|nothing|something|whatever|anything|unknown|missing|wrong|strong|simple|secret|always|never|still|either|neither|stored|secure|unsafe|random|the same|default|argument|string|values?|inputs?|already|longer|shorter|before|after|because|within|without|through|between|visible|public|private|correct|another|exactly|changeme|placeholder|example|sensitive|plaintext|system|length|there|where|which|their)$|(?:ed|ing|ly|able|ible|ect|ory|ive|ent|pty|id|sh|en|word|pass\w*|null)$|pass/i;

function withoutLetters(whole: string, before: string, value: string): string {
  return NO_PASSWORD.test(value) ? whole : before + MARK;
}

/** Names of types, references to the real place of the value, and placeholders for a value that was left out. */
const PLACEHOLDER =
  /^(?:\[redacted|\[|\$|\{|%|<|\*{2}|\.{3}|x{3,}$|process\.|os\.|env\.|import\.|self\.|this\.|config\.|null|none|nil|undefined|true|false|string|str|number|optional|required)/i;
const isPlaceholder = (value: string): boolean => PLACEHOLDER.test(value) || /[([]/.test(value);

/** A path is not a password, nor is a word of prose or code unless it is quoted: `password is required`. */
function isPassword(value: string, quoted: boolean): boolean {
  if (/^[.~]{0,2}\/[\w./-]*$/.test(value)) return false;
  if (value.length < 4 || /^[\w]+(?:\.[A-Za-z_]\w*)+$/.test(value)) return false;
  if (/[0-9]/.test(value) || /[^\w.-]/.test(value)) return true;
  return quoted && !/pass/i.test(value);
}

function isLogin(value: string, before: string): boolean {
  if (/^\d+$/.test(value) || isPlaceholder(value)) return false;
  return /\bcurl\b/.test(before.slice(-1_000)) || isPassword(value, false);
}

const HEX = /^[0-9a-f]+$/i;

/** A hash, or eight characters or more, letters and digits mixed, and not a path, a member or a version. */
function looksRandom(value: string): boolean {
  if (value.length >= 16 && HEX.test(value.replaceAll('-', ''))) return true;
  if (value.length < 8 || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[.~]?\/|\.[a-z]{1,4}$|^v?\d+\.\d+/.test(value)) return false;
  return entropy(value) >= 2.8 && (hasInnerDigits(value) || !isWordy(value));
}

/** Long, of letters and digits alone, and with digits among the letters more than once: no name is like that. */
function hasInnerDigits(value: string): boolean {
  if (value.length < 16 || /[^A-Za-z0-9]/.test(value)) return false;
  return (value.match(/[A-Za-z]\d+(?=[A-Za-z])/g)?.length ?? 0) >= 2;
}

const LONG_RUN = /[A-Za-z0-9+/_=-]{40,}/g;

function isHighEntropy(run: string): boolean {
  const sample = run.slice(0, 256);
  if (/^sha\d{1,3}[-_]/.test(sample)) return false;
  if (!/[a-z]/.test(sample) || !/[A-Z]/.test(sample) || !/[0-9]/.test(sample)) return false;
  return entropy(sample) >= 4 && !isWordy(sample);
}

/** Temporary folders have random names. */
function isPath(run: string): boolean {
  return /^(?:-{1,2}[\w-]+=)?\//.test(run) && run.split('/').length > 4;
}

/** A part of a URL, or the checksum of a Go module. */
function isInUrlOrChecksum(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 100), at);
  return /:\/\/[^\s"'?]*$|\bh1:$/.test(before);
}

/**
 * Words, numbers and hashes joined by separators: paths, identifiers, ids. Their letters change between upper case,
 * lower case and digits seldom; those of a random key at every second character.
 */
function isWordy(value: string): boolean {
  let wordy = 0;
  for (const piece of value.split(/[^A-Za-z0-9]+/)) {
    const runs = piece.match(/[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g)?.length ?? 0;
    const isHash = piece.length >= 7 && HEX.test(piece) && value.length > piece.length;
    if (isHash || (runs > 0 && piece.length / runs >= 3)) wordy += piece.length;
  }
  return wordy * 2 >= value.length;
}

/** Bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** A summary in which every text has gone through a redaction. */
export function redactSummary(summary: Summary, redact: Redact = redactSecrets): Summary {
  return everyText(summary, redact) as Summary;
}

/** Deeper than any field that makes sense, and far from the end of the stack. */
const MOST_LEVELS = 100;

/** What is nested too deeply becomes its JSON text. */
function everyText(value: unknown, redact: Redact, levels: number = MOST_LEVELS): unknown {
  if (typeof value === 'string') return redact(value);
  if (value === null || typeof value !== 'object') return value;
  if (levels === 0) return redact(jsonText(value));
  if (Array.isArray(value)) return value.map((item) => everyText(item, redact, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, everyText(field, redact, levels - 1)]),
  );
}
