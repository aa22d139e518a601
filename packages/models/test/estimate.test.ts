import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { estimator } from '@bobbin/core/internal';
import { bpe } from '@bobbin/models';
import { RECORDED, withoutRecorded } from '@bobbin/testing/recorded';
import { volume } from '@bobbin/testing/volume';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TRANSCRIPTS = fileURLToPath(new URL('transcripts', RECORDED));
/** What an estimate may be of the exact count: rather more than less. */
const [LEAST, MOST] = [1, 1.25];
/** Below this size one odd word moves the ratio. */
const ENOUGH_TOKENS = 200;
/** Of so many recorded conversations one is counted. */
const STEP = volume(10, 1);

interface Recorded {
  readonly id: string;
  readonly messages: readonly {
    readonly content?: string | null;
    readonly toolCalls?: readonly { readonly name: string; readonly args: unknown }[];
  }[];
}

test("C14 the estimate of this repository's own files errs on the safe side", async () => {
  const exact = await bpe('o200k');
  const estimate = estimator();
  const files = globSync(['packages/*/src/**/*.ts', 'docs/*.md', '*.md'], { cwd: ROOT });
  const texts = files.map((file) => readFileSync(`${ROOT}/${file}`, 'utf8'));
  const ratio = sum(texts.map(estimate.text)) / sum(texts.map(exact.text));
  assert.ok(ratio > 1 && ratio < MOST, ratio.toFixed(3));
});

/** The same bytes each time, without sense. */
const random = Buffer.concat(
  Array.from({ length: 40 }, (_, i) => createHash('sha256').update(`${i}`).digest()),
);
const letters = (alphabet: string): string =>
  Array.from(random, (byte) => alphabet[byte % alphabet.length]).join('');

/** Ideographs from all of their block; most are in no vocabulary. */
const ideographs = (): string =>
  Array.from(random, (byte, i) => String.fromCodePoint(0x4e00 + ((byte * 82 + i) % 20_992))).join(
    '',
  );

test('C14 the estimate errs on the safe side in other scripts and in data', async () => {
  const exact = await bpe('o200k');
  const estimate = estimator();
  const texts = {
    chinese: '今天天气很好，我们一起去公园散步吧。请把这个函数改写成异步的，并添加测试。',
    japanese: '今日は天気がいいので、公園を散歩しましょう。この関数を非同期に書き直してください。',
    korean: '오늘은 날씨가 좋으니 공원을 산책합시다. 이 함수를 비동기로 바꿔 주세요.',
    russian: 'Сегодня хорошая погода, давайте погуляем в парке. Перепиши эту функцию.',
    vietnamese: 'Hôm nay thời tiết đẹp, chúng ta đi dạo công viên nhé.',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    id: '550e8400-e29b-41d4-a716-446655440000',
    decimals: '3.14159 2.71828 1.41421 0.57721 1.61803',
    minified: 'function a(b,c){return b?c.d(function(e){return e.f>0&&e.g!==null}):void 0}',
    emoji: '🧵🪡🎉✅❌👩‍👩‍👧‍👦🚀',
    tree: '├── src\n│   ├── main.ts\n└── test',
    base64: random.toString('base64'),
    'base64 by lines': random.toString('base64').replace(/.{76}/g, '$&\n'),
    'lower case': letters('abcdefghijklmnopqrstuvwxyz'),
    'upper case': letters('ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
    dna: letters('ACGT'),
    base32: letters('abcdefghijklmnopqrstuvwxyz234567'),
    'by tabs': '\t\t\tx\n'.repeat(50),
    control: '\u0000\u0001\u0002\u001b[31mred\u001b[0m'.repeat(20),
    signs: letters('!@#$%^&*()[]{}|;:,<>?/~`'),
    amharic: 'ዛሬ አየሩ ጥሩ ነው ወደ ፓርክ እንሂድ። ',
    tibetan: 'དེ་རིང་གནམ་གཤིས་ཡག་པོ་འདུག ',
    lao: 'ມື້ນີ້ອາກາດດີຫຼາຍ ພວກເຮົາໄປຍ່າງຫຼິ້ນສວນ. ',
    odia: 'ଆଜି ପାଗ ବହୁତ ଭଲ ଅଛି, ଚାଲ ବଗିଚାକୁ ଯିବା। ',
    inuktitut: 'ᐊᓐᓄᕌᖅ ᐃᓄᒃᑎᑐᑦ ᐅᖃᐅᓯᖅ ',
    khmer: 'ថ្ងៃនេះអាកាសធាតុល្អ តោះទៅដើរលេងនៅសួន។ ',
    'random ideographs': ideographs(),
    'rare Hangul': '뷁쀍쫡홟햏궯껱꿻늏댃듷',
    'rarer planes': '𠀀𠀇𠀎𝐀𝐁𝐂',
    braille: '⠋⠙⠹⠸⠼⠴⠦⠧',
    marks: 'z̷̢̛a̸͇͐l̴̰̈́g̵̬͝',
    mathematics: '∀x∈ℝ∃y∈ℂ: ∑∫∂√∞≤≥≠⊂⊃∪∩',
  };
  for (const [name, text] of Object.entries(texts)) {
    const ratio = estimate.text(text) / exact.text(text);
    assert.ok(ratio >= 1 && ratio < 2, `${name}: ${ratio.toFixed(2)}`);
  }
});

const skip = withoutRecorded('transcripts');

test(
  'C14 the estimate of recorded conversations is close and errs on the safe side',
  { skip },
  async (t) => {
    const exact = await bpe('o200k');
    const estimate = estimator();
    const ratios: number[] = [];
    for (const { id, messages } of recorded()) {
      const texts = messages.flatMap(({ content, toolCalls = [] }) => [
        content ?? '',
        ...toolCalls.flatMap(({ name, args }) => [name, JSON.stringify(args)]),
      ]);
      const tokens = sum(texts.map(exact.text));
      if (tokens < ENOUGH_TOKENS) continue;
      const ratio = sum(texts.map(estimate.text)) / tokens;
      assert.ok(ratio > LEAST && ratio < MOST, `${id}: ${ratio.toFixed(3)} of ${tokens} tokens`);
      ratios.push(ratio);
    }
    ratios.sort((a, b) => a - b);
    const quantile = (share: number): string =>
      (ratios[Math.floor(share * (ratios.length - 1))] ?? 0).toFixed(3);
    t.diagnostic(
      `${ratios.length} conversations: ${[0, 0.05, 0.5, 0.95, 1].map(quantile).join(' … ')}`,
    );
  },
);

function* recorded(): Generator<Recorded> {
  for (const file of readdirSync(TRANSCRIPTS)) {
    const lines = gunzipSync(readFileSync(`${TRANSCRIPTS}/${file}`))
      .toString('utf8')
      .trim();
    for (const [i, line] of lines.split('\n').entries())
      if (i % STEP === 0) yield JSON.parse(line) as Recorded;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
